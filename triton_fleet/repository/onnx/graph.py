"""The inputs and outputs of an ONNX file, by reading its ModelProto past the weights.

Sources: onnx/onnx.proto; onnxruntime, core/graph/graph.cc: an input that an initializer gives a value is none
that a request has to have, and one that it may have only from the format's version 4 on.
"""

from __future__ import annotations

from triton_fleet.repository.contents import OnnxHeader, OnnxTensor
from triton_fleet.repository.file_formats import IS_POINTER, is_pointer
from triton_fleet.repository.onnx.types import tensor, text
from triton_fleet.repository.onnx.wire import BYTES, VARINT, FieldBudget, Wire, WireError, WireField
from triton_fleet.repository.stream import Stream, UnreadableError

MAX_SIZE = (1 << 31) - 1
"""Bytes of a message that protobuf reads, and ONNX Runtime with it."""
MAX_HEADER_BYTES, TENSOR_BYTES = 64 << 20, 200
"""Bytes of all names and shapes that are kept, and Python's own bytes for each."""
MAX_DEPTH = 100
"""Messages within one another, as many as protobuf reads."""
INSIDE = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "initializer", 11: "input", 12: "output", 15: "sparse initializer"},
    "subgraph": {1: "node", 5: "tensor", 15: "sparse tensor"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {
        5: "tensor",
        6: "subgraph",
        10: "tensor",
        11: "subgraph",
        22: "sparse tensor",
        23: "sparse tensor",
    },
    "sparse initializer": {1: "initializer", 2: "tensor"},
    "sparse tensor": {1: "tensor", 2: "tensor"},
}
"""By message, the content of the fields that are read."""


def read_header(stream: Stream, size: int, budget: FieldBudget | None = None) -> OnnxHeader:
    """The header of a file of so many bytes; one that cannot be read has a `problem`."""
    if is_pointer(stream):
        return OnnxHeader(problem=IS_POINTER)
    graph = _Graph(Wire(stream, size, budget or FieldBudget()), size)
    try:
        graph.read()
    except WireError as error:
        return OnnxHeader(problem=f"it is not an ONNX file, or a damaged one: {error}", certain=error.certain)
    except UnreadableError as error:
        return OnnxHeader(problem=str(error), certain=False)
    return graph.header()


class _Graph:
    def __init__(self, wire: Wire, size: int) -> None:
        self._wire, self._size = wire, size
        self._version = self._header_bytes = 0
        self._has_graph = False
        self._inputs: dict[str, OnnxTensor] = {}
        self._outputs: dict[str, OnnxTensor] = {}
        self._initializers: set[str] = set()
        self._external: dict[str, None] = {}
        self._opsets: list[tuple[str, int]] = []

    def read(self) -> None:
        for field in self._wire.fields(self._size):
            if (field.number, field.kind) == (1, VARINT):
                self._version = field.value
            elif (field.number, field.kind) == (8, BYTES):
                self._operator_set(field)
            else:
                self._enter("model", field, 1)

    def header(self) -> OnnxHeader:
        inputs, initializers = self._inputs.values(), self._initializers
        return OnnxHeader(
            inputs=tuple(graph_input for graph_input in inputs if graph_input.name not in initializers),
            outputs=tuple(self._outputs.values()),
            overridable=tuple(
                graph_input
                for graph_input in inputs
                if graph_input.name in initializers and self._version >= 4
            ),
            external=tuple(self._external),
            ir_version=self._version,
            opsets=tuple(self._opsets),
            problem=self._problem(),
        )

    def _problem(self) -> str:
        if not self._has_graph:
            return "it is not an ONNX file, or a damaged one: it holds no graph"
        if self._size > MAX_SIZE:
            return f"it has {self._size} bytes, more than the {MAX_SIZE} that ONNX Runtime reads"
        return ""

    def _enter(self, message: str, field: WireField, depth: int) -> None:
        inside = INSIDE[message].get(field.number) if field.kind == BYTES else None
        if inside in ("input", "output"):
            self._hold(field.value)
            graph_tensor = tensor(self._wire.take(field))
            (self._inputs if inside == "input" else self._outputs)[graph_tensor.name] = graph_tensor
        elif inside in ("initializer", "tensor"):
            self._tensor(field, is_initializer=inside == "initializer")
        elif inside is not None:
            self._has_graph |= inside == "graph"
            if depth == MAX_DEPTH:
                raise WireError(f"its messages are nested deeper than {MAX_DEPTH} levels", certain=False)
            for inner in self._wire.fields(field.value):
                self._enter(inside, inner, depth + 1)

    def _tensor(self, message: WireField, *, is_initializer: bool) -> None:
        location, is_external = "", False
        for field in self._wire.fields(message.value):
            if (field.number, field.kind) == (8, BYTES) and is_initializer:
                self._hold(field.value)
                self._initializers.add(text(self._wire.take(field)))
            elif (field.number, field.kind) == (13, BYTES):
                key, value = self._entry(field)
                location = value if key == "location" else location
            elif (field.number, field.kind) == (14, VARINT):
                is_external = field.value == 1
        if is_external and location not in self._external:
            self._hold(len(location))
            self._external[location] = None

    def _operator_set(self, message: WireField) -> None:
        domain, version = "", 0
        for field in self._wire.fields(message.value):
            if (field.number, field.kind) == (1, BYTES):
                domain = text(self._wire.take(field))
            elif (field.number, field.kind) == (2, VARINT):
                version = field.value
        self._hold(len(domain))
        self._opsets.append((domain, version))

    def _entry(self, message: WireField) -> tuple[str, str]:
        values = {1: "", 2: ""}
        for field in self._wire.fields(message.value):
            if field.number in values and field.kind == BYTES:
                values[field.number] = text(self._wire.take(field))
        return values[1], values[2]

    def _hold(self, size: int) -> None:
        self._header_bytes += size + TENSOR_BYTES
        if self._header_bytes > MAX_HEADER_BYTES:
            raise WireError(
                f"its names and shapes have more than {MAX_HEADER_BYTES >> 20} MiB", certain=False
            )
