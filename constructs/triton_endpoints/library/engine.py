"""TensorRT engines as props: the keys that a spec has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Literal

from triton_endpoints.library.keys import yaml_value


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A plan that a deploy has built for a model: `engines` of a spec, with its defaults.

    Attributes:
        onnx: The ONNX model, a file relative to the folder in which the app runs.
        precision: What TensorRT may use for a layer in addition to `fp32`.
        shapes: By input: the smallest, usual and largest shapes, `["1x128", "16x128", "32x128"]`; default:
            the ONNX model's own, which have to be fixed.
        compatibility: Other GPUs that the engine also has to run on, which makes it slower.
        workspace: GPU memory that a layer may use in addition to its tensors, such as `4GiB`; default: all.
    """

    onnx: str | Path
    precision: Literal["fp32", "fp16", "bf16", "int8", "fp8", "int4"] = "fp32"
    shapes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    compatibility: Literal["none", "ampere+", "same-compute-capability"] = "none"
    workspace: str | None = None


def engine_keys(engines: Mapping[str, Engine]) -> list[dict[str, object]]:
    """The keys of a spec."""
    return [{"model": model, **_keys(engine)} for model, engine in engines.items()]


def _keys(engine: Engine) -> dict[str, object]:
    values = {item.name: yaml_value(getattr(engine, item.name)) for item in fields(engine)}
    return {**{name: value for name, value in values.items() if value}, "onnx": str(engine.onnx)}
