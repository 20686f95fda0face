"""Compiles one engine from a folder to a folder: no network, no credentials, no other files."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path

from engine_request.files import ONNX, PLAN, RECORD, REQUEST, file_digest
from engine_request.host import timestamp
from engine_request.problems import DIGEST_MISMATCH, BuildError, read_request
from engine_request.process import Deadline, run
from engine_request.request import EngineRequest

from .gpu import require_gpu
from .reasons import build_error, load_error
from .trtexec import TensorRT, build_command, load_command, read_figures, require_tensorrt


def compile_engine(inputs: Path, outputs: Path) -> None:
    """Build the engine of a request, and leave the plan and the record of its build.

    Raises:
        BuildError: there is no engine, and why.
        OSError: a file cannot be read or written.
    """
    start, request = timestamp(), read_request(EngineRequest.of, (inputs / REQUEST).read_bytes())
    deadline = Deadline(request.seconds)
    gpu = require_gpu(request)
    print(f"{gpu.name}, compute capability {gpu.compute_capability}, {gpu.memory}, driver {gpu.driver}")
    tensorrt = require_tensorrt()
    print(f"TensorRT {tensorrt.version}: {tensorrt.trtexec}")
    require_onnx(request, inputs / ONNX)
    outputs.mkdir(parents=True, exist_ok=True)
    plan = outputs / PLAN
    seconds = _build(request, tensorrt, deadline, inputs / ONNX, plan)
    load = run(load_command(tensorrt, request.arguments, plan=plan), deadline)
    if load.exit_code:
        raise load_error(load)
    record = {
        "key": request.key,
        "tensorrt": tensorrt.version,
        "gpu": asdict(gpu),
        "plan": {"digest": file_digest(plan), "size": plan.stat().st_size},
        "build_seconds": seconds,
        "figures": read_figures(load.lines),
        "started": start,
        "ended": timestamp(),
    }
    (outputs / RECORD).write_text(json.dumps(record, indent=2), "utf-8")
    print(f"{plan} is built: {plan.stat().st_size} bytes.")


def _build(request: EngineRequest, tensorrt: TensorRT, deadline: Deadline, onnx: Path, plan: Path) -> float:
    """Compile the plan; the seconds that trtexec took."""
    begin = time.monotonic()
    build = run(build_command(tensorrt, request.arguments, onnx=onnx, plan=plan), deadline)
    if build.exit_code or not plan.is_file():
        raise build_error(build)
    return round(time.monotonic() - begin, 1)


def require_onnx(request: EngineRequest, file: Path) -> None:
    """Compare the model with the request.

    Raises:
        BuildError: it is another one.
    """
    digest, size = file_digest(file), file.stat().st_size
    if (digest, size) != (request.onnx_digest, request.onnx_size):
        raise BuildError(
            DIGEST_MISMATCH,
            f"the ONNX model is {digest} of {size} bytes; "
            f"the lock has {request.onnx_digest} of {request.onnx_size}",
        )
