"""One input or output of an ONNX graph.

Sources: onnx/onnx.proto (ValueInfoProto, TypeProto); triton-inference-server/onnxruntime_backend, r26.06,
src/onnxruntime_utils.cc, for the data types; onnxruntime, core/graph/node_arg.cc, which treats a negative
dimension as an open one.
"""

from __future__ import annotations

from triton_fleet.repository.contents import TENSOR, OnnxTensor
from triton_fleet.repository.onnx.wire import BYTES, VARINT, FieldBudget, Wire, WireField
from triton_fleet.repository.stream import Stream

DATA_TYPES = {
    1: "TYPE_FP32",
    2: "TYPE_UINT8",
    3: "TYPE_INT8",
    4: "TYPE_UINT16",
    5: "TYPE_INT16",
    6: "TYPE_INT32",
    7: "TYPE_INT64",
    8: "TYPE_STRING",
    9: "TYPE_BOOL",
    10: "TYPE_FP16",
    11: "TYPE_FP64",
    12: "TYPE_UINT32",
    13: "TYPE_UINT64",
    16: "TYPE_BF16",
}
"""By the numbers of TensorProto.DataType."""
TYPES = {
    1: TENSOR,
    4: "ONNX_TYPE_SEQUENCE",
    5: "ONNX_TYPE_MAP",
    7: "ONNX_TYPE_OPAQUE",
    8: "ONNX_TYPE_SPARSETENSOR",
    9: "ONNX_TYPE_UNKNOWN",
}
"""By the fields of TypeProto; the backend does not know the last, which is for optional values."""


def tensor(content: bytes) -> OnnxTensor:
    """A ValueInfoProto.

    Raises:
        WireError: it is not in protobuf's wire format.
    """
    wire = Wire(Stream(content), len(content), FieldBudget())
    name, kind, data_type, shape = "", TENSOR, "", None
    for field in wire.fields(len(content)):
        if (field.number, field.kind) == (1, BYTES):
            name = text(wire.take(field))
        elif (field.number, field.kind) == (2, BYTES):
            for inner in wire.fields(field.value):
                if inner.number in TYPES and inner.kind == BYTES:
                    kind = TYPES[inner.number]
                    data_type, shape = _tensor(wire, inner) if kind == TENSOR else ("", None)
    return OnnxTensor(name, data_type, shape, kind)


def text(content: bytes) -> str:
    """A name; ONNX does not see to it that it is UTF-8."""
    return content.decode("utf-8", "backslashreplace")


def _tensor(wire: Wire, message: WireField) -> tuple[str, tuple[int, ...] | None]:
    data_type, dims = "", None
    for field in wire.fields(message.value):
        if (field.number, field.kind) == (1, VARINT):
            data_type = DATA_TYPES.get(field.value, "")
        elif (field.number, field.kind) == (2, BYTES):
            dims = dims or []
            dims += [
                _dim(wire, dim) for dim in wire.fields(field.value) if (dim.number, dim.kind) == (1, BYTES)
            ]
    return data_type, None if dims is None else tuple(dims)


def _dim(wire: Wire, message: WireField) -> int:
    dim = -1
    for field in wire.fields(message.value):
        if (field.number, field.kind) == (1, VARINT):
            dim = field.value if field.value < 1 << 63 else -1
        elif (field.number, field.kind) == (2, BYTES):
            dim = -1
    return dim
