"""How a plan came to be: the document that, being there, says that the engine is whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from engine_request.host import builder, now
from engine_request.request import Request

from .gpu import Gpu
from .tensorrt import TensorRT


def manifest(
    request: Request,
    gpu: Gpu,
    tensorrt: TensorRT,
    *,
    plan_digest: str,
    plan_size: int,
    started: str,
    build_seconds: float | None,
    figures: dict[str, float],
) -> dict[str, Any]:
    """What manifest.json holds.

    Args:
        request: What was asked for.
        gpu: What built it.
        tensorrt: What built it.
        plan_digest: Of the plan, `sha256:...`.
        plan_size: In bytes.
        started: When the build began.
        build_seconds: How long trtexec built; None for a plan that was found, of a build that ended before it
            could say so.
        figures: What the plan did as it was loaded back, with the usual shape; see measured().
    """
    return {
        "key": request.key,
        "model": request.model,
        "onnx": {"digest": request.onnx_digest, "size": request.onnx_size},
        "arguments": list(request.arguments),
        "image": request.image,
        "tensorrt": tensorrt.version,
        "gpu": asdict(gpu),
        "plan": {"digest": plan_digest, "size": plan_size},
        "build_seconds": build_seconds,
        "measured": figures,
        "script": request.script_digest,
        "by": builder(),
        "started": started,
        "ended": now(),
    }
