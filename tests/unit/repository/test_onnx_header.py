"""A graph's inputs and outputs are read as ONNX Runtime would tell them, without its weights."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, set_default_logger_severity
from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as Unimplemented

from tests.support.onnx_graphs import FLOAT, INT32, add, external, graph_bytes, header_of, weights
from tests.support.repository_archives import archive
from triton_fleet.repository.contents import OnnxHeader, OnnxTensor
from triton_fleet.repository.onnx.graph import MAX_SIZE, read_header
from triton_fleet.repository.reading.folder import read
from triton_fleet.repository.stream import FileStream

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
REAL = [
    *sorted((DATA / "light").glob("*.onnx")),
    *sorted((DATA / "simple").rglob("*.onnx")),
    *sorted((DATA / "pytorch-operator").rglob("*.onnx"))[::4],
]
TYPES = {"float": "FP32", "double": "FP64", "float16": "FP16"}


def tensor_rows(tensors: Iterable[Any]) -> list[tuple[str, str, tuple[int, ...]]]:
    """As ONNX Runtime tells them."""
    result = []
    for tensor in tensors:
        element = tensor.type.removeprefix("tensor(").removesuffix(")")
        shape = tuple(dim if isinstance(dim, int) else -1 for dim in tensor.shape)
        result.append((tensor.name, f"TYPE_{TYPES.get(element, element.upper())}", shape))
    return result


def read_of(tensors: tuple[OnnxTensor, ...]) -> list[tuple[str, str, tuple[int, ...] | None]]:
    return [(tensor.name, tensor.data_type, tensor.shape) for tensor in tensors]


def same(content: bytes) -> OnnxHeader:
    """The header, which is what ONNX Runtime says of the graph."""
    session = InferenceSession(content, providers=["CPUExecutionProvider"])
    header = header_of(content)
    assert header.problem == ""
    assert read_of(header.inputs) == tensor_rows(session.get_inputs())
    assert read_of(header.outputs) == tensor_rows(session.get_outputs())
    assert read_of(header.overridable) == tensor_rows(session.get_overridable_initializers())
    return header


@pytest.mark.parametrize("file", REAL, ids=lambda file: f"{file.parent.name}/{file.name}")
def test_real_graphs_are_read_as_onnx_runtime_reads_them(file: Path) -> None:
    set_default_logger_severity(4)
    try:
        same(file.read_bytes())
    except (Fail, Unimplemented):
        # Operators that this ONNX Runtime does not have; the file is in order.
        assert header_of(file.read_bytes()).problem == ""
    assert header_of(file.read_bytes()).outputs


@pytest.mark.parametrize("version", [3, 4, 8])
def test_an_input_with_an_initializer_may_be_overridden_from_version_4_on(version: int) -> None:
    content = graph_bytes(
        {"x": (FLOAT, ["n", 2]), "w": (FLOAT, [2])},
        {"y": (FLOAT, ["n", 2])},
        [weights("w")],
        version=version,
        nodes=[add("x", "w", "y")],
    )
    header = same(content)
    assert [tensor.name for tensor in header.inputs] == ["x"]
    assert [tensor.name for tensor in header.overridable] == (["w"] if version >= 4 else [])


def test_open_named_negative_and_fixed_dimensions_and_scalars() -> None:
    shapes: dict[str, list[object]] = {"a": ["batch", None, 3], "b": [], "c": [-5, 1]}
    content = graph_bytes(
        {name: (FLOAT, shape) for name, shape in shapes.items()},
        {"y": (FLOAT, ["batch", None, 3])},
        nodes=[add("a", "b", "ab"), add("ab", "c", "y")],
    )
    assert [tensor.shape for tensor in same(content).inputs] == [(-1, -1, 3), (), (-1, 1)]


def test_a_tensor_without_a_shape_has_none() -> None:
    header = header_of(graph_bytes({"x": (FLOAT, None)}, {"y": (INT32, None)}))
    assert header.inputs == (OnnxTensor("x", "TYPE_FP32", None),)
    assert header.outputs == (OnnxTensor("y", "TYPE_INT32", None),)


def test_what_is_no_tensor_says_what_it_is() -> None:
    graph = helper.make_graph([], "g", [], [])
    tensor = helper.make_tensor_type_proto(FLOAT, [1])
    sparse = helper.make_sparse_tensor_type_proto(FLOAT, [1])
    kinds = {
        "s": helper.make_sequence_type_proto(tensor),
        "m": helper.make_map_type_proto(TensorProto.INT64, tensor),
        "o": helper.make_optional_type_proto(tensor),
        "p": sparse,
    }
    for name, kind in kinds.items():
        graph.output.append(helper.make_value_info(name, kind))
    header = header_of(helper.make_model(graph).SerializeToString())
    assert {output.name: output.onnx_type for output in header.outputs} == {
        "s": "ONNX_TYPE_SEQUENCE",
        "m": "ONNX_TYPE_MAP",
        "o": "ONNX_TYPE_UNKNOWN",
        "p": "ONNX_TYPE_SPARSETENSOR",
    }
    assert {output.data_type for output in header.outputs} == {""}


def test_a_data_type_that_triton_does_not_have_is_empty() -> None:
    header = header_of(graph_bytes({"x": (TensorProto.COMPLEX64, [1])}, {}))
    assert header.inputs == (OnnxTensor("x", "", (1,)),)


def test_files_with_weights_are_known_wherever_a_graph_names_them() -> None:
    inner = helper.make_graph([], "inner", [], [], [external("i", "inner.bin")])
    nodes = [
        helper.make_node("Constant", [], ["c"], value=external("c", "constant.bin")),
        helper.make_node("If", ["x"], ["y"], then_branch=inner, else_branch=inner),
    ]
    content = graph_bytes({}, {}, [external("a", "w.bin"), external("b", "w.bin"), weights("c")], nodes=nodes)
    assert set(header_of(content).external) == {"inner.bin", "constant.bin", "w.bin"}


def sparse_file(file: Path, size: int) -> None:
    """A graph whose only initializer is a hole of so many bytes."""

    def length(number: int) -> bytes:
        rest = length(number >> 7) if number >> 7 else b""
        return bytes([number & 0x7F | (0x80 if rest else 0)]) + rest

    after = graph_bytes({"x": (FLOAT, ["n"])}, {"y": (FLOAT, ["n"])})
    graph = onnx.load_from_string(after).graph.SerializeToString()
    # A tensor called "w" of so many bytes: its dimension, its type UINT8, its name and its raw data.
    tensor = b"\x08" + length(size) + b"\x10\x02\x42\x01w\x4a" + length(size)
    initializer = b"\x2a" + length(len(tensor) + size) + tensor
    with file.open("wb") as output:
        output.write(b"\x08\x08\x3a" + length(len(initializer) + size + len(graph)) + initializer)
        output.seek(size, io.SEEK_CUR)
        output.write(graph)


@pytest.mark.parametrize("size", [1 << 30, 3 << 30])
def test_a_file_of_gigabytes_is_read_in_little_memory(tmp_path: Path, size: int) -> None:
    file = tmp_path / "model.onnx"
    sparse_file(file, size)
    total = file.stat().st_size
    tracemalloc.start()
    with file.open("rb", buffering=0) as original_open:
        header = read_header(FileStream(original_open, total), total)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read_of(header.inputs) == [("x", "TYPE_FP32", (-1,))]
    assert read_of(header.outputs) == [("y", "TYPE_FP32", (-1,))]
    assert peak < 1 << 20
    assert (f"more than the {MAX_SIZE} that ONNX Runtime reads" in header.problem) == (size > MAX_SIZE)


def test_a_graph_in_an_archive_is_read_as_it_passes_by(tmp_path: Path) -> None:
    content = graph_bytes({"x": (FLOAT, ["n"])}, {"y": (FLOAT, ["n"])}, [weights("w", 5_000_000)])
    path = archive(tmp_path, {"m/1/model.onnx": content, "m/1/next.onnx": b""})
    tracemalloc.start()
    contents = read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert contents.headers["m/1/model.onnx"] == header_of(content)
    assert contents.headers["m/1/model.onnx"].inputs[0].name == "x"
    assert peak < 8 << 20
