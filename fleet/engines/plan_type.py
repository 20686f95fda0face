"""The data type of a plan's input or output, by that of the ONNX model that it is built from."""

from __future__ import annotations

from fleet.catalog.versions import numbers

KEEPS_INT64 = "10.0"
"""The first TensorRT whose plans take 64 bits; the others take such a tensor as INT32."""


def plan_type(data_type: str, tensorrt: str) -> str:
    """That of a plan of the version `tensorrt`; a precision, such as `--fp16`, changes none."""
    narrowed = data_type == "TYPE_INT64" and numbers(tensorrt) < numbers(KEEPS_INT64)
    return "TYPE_INT32" if narrowed else data_type
