"""What trtexec finds wrong with an ONNX model, as far as the onnx package can tell; without it, nothing."""

from __future__ import annotations

from typing import Any

DOMAINS = frozenset({"", "ai.onnx"})


class OnnxError(Exception):
    """What trtexec writes about the model, each argument a line."""


def require_importable(model: bytes) -> None:
    """Nothing, if all operators are ONNX's own; of those TensorRT lacks some, which nothing here knows.

    Raises:
        OnnxError: one is not, or the file is no ONNX model.
    """
    onnx = _onnx()
    if onnx is None:
        return
    for number, node in enumerate(_parsed(onnx, model).graph.node):
        if node.domain not in DOMAINS or not onnx.defs.has(node.op_type):
            raise OnnxError(
                f'While parsing node number {number} [{node.op_type} -> "{node.output[0]}"]:',
                "ERROR: onnxOpCheckers.cpp In function checkFallbackPluginImporter: [6] creator && "
                '"Plugin not found, are the plugin name, version, and namespace correct?"',
                "Failed to parse onnx file",
            )


def require_inputs(model: bytes, shapes: str) -> None:
    """Nothing, if shapes as trtexec takes them, `ids:1x128,mask:1x128`, are of inputs of the model.

    Raises:
        OnnxError: one is not.
    """
    onnx = _onnx()
    if onnx is None or not shapes:
        return
    inputs = {each.name for each in _parsed(onnx, model).graph.input}
    for shape in shapes.split(","):
        name = shape.rpartition(":")[0]
        if name not in inputs:
            raise OnnxError(
                f'Cannot find input tensor with name "{name}" in the network inputs! '
                "Please make sure the input tensor names are correct."
            )


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        return None
    return onnx


def _parsed(onnx: Any, model: bytes) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return onnx.ModelProto.FromString(model)
    except DecodeError as error:
        raise OnnxError("Failed to parse onnx file", "Parsing model failed") from error
