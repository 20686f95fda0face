"""Any bytes of a file have a header that is read or a problem."""

from __future__ import annotations

import onnx
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.onnx_graphs import FLOAT, INT32, add, external, graph_bytes, header_of, weights
from triton_fleet.repository.onnx.wire import FieldBudget

GRAPH = graph_bytes(
    {"x": (FLOAT, ["n", 2]), "w": (FLOAT, [2])},
    {"y": (INT32, ["n", None])},
    [weights("w"), external("e", "e.bin")],
    nodes=[add("x", "w", "y")],
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it holds no graph"),
        (b"\x08\x08", "it holds no graph"),
        (b"\x3a\x05\x5a", "it is cut off after 3 bytes"),
        (b"\x3a\xff\xff\xff\xff\x0f", "it is cut off after 6 bytes"),
        (b"\x3a" + b"\xff" * 9 + b"\x01", "it is cut off after 11 bytes"),
        (b"\x3a" + b"\xff" * 20, "a number in it has more than ten bytes"),
        (b"\x08", "it is cut off after 1 bytes"),
        (b"\x3a\x02\x0a\x05" + bytes(9), "a message in it ends within a field"),
        (b"\x3a\x02\x0d\x05" + bytes(9), "a message in it ends within a field"),
        (b"\x0d\0", "it is cut off after 2 bytes"),
        (b"\x02\x00", "a field in it has the number 0"),
        (b"\x0b", "a field in it is of the kind 3"),
        (b"\x0f", "a field in it is of the kind 7"),
    ],
)
def test_bytes_that_protobuf_refuses_are_a_certain_problem(content: bytes, message: str) -> None:
    header = header_of(content)
    assert message in header.problem
    assert header.certain
    assert header.inputs == header.outputs == ()


def test_the_pointer_of_git_lfs_is_known_by_name() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    assert "Git LFS" in header_of(pointer).problem


def nested_graph(depth: int) -> bytes:
    """A graph with a graph in a node's attribute, and so on."""
    content = b""
    for _ in range(depth):
        for tag in (b"\x32", b"\x2a", b"\x0a"):
            length = len(content)
            content = tag + bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14]) + content
    length = len(content)
    return b"\x3a" + bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14]) + content


def test_graphs_within_graphs_have_an_end() -> None:
    assert header_of(nested_graph(10)).problem == ""
    header = header_of(nested_graph(1000))
    assert "nested deeper than 100 levels" in header.problem
    assert not header.certain


def test_fields_have_an_end_over_all_files() -> None:
    budget = FieldBudget(fields=60)
    assert header_of(GRAPH, budget).problem == ""
    assert 0 < budget.fields < 60
    header = header_of(GRAPH, FieldBudget(fields=10))
    assert "more fields than are read here" in header.problem
    assert not header.certain


def test_names_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    long = header_of(graph_bytes({"x" * (2 << 20): (FLOAT, [1])}, {}))
    assert ("a name or a shape in it has" in long.problem, long.certain) == (True, False)
    monkeypatch.setattr("triton_fleet.repository.onnx.graph.MAX_HEADER_BYTES", 1000)
    many = header_of(graph_bytes({str(number): (FLOAT, [1]) for number in range(9)}, {}))
    assert ("its names and shapes have more than" in many.problem, many.certain) == (True, False)


@settings(deadline=None, max_examples=1000, derandomize=True, database=None)
@given(
    noise=st.lists(st.tuples(st.integers(0, len(GRAPH)), st.binary(min_size=1, max_size=4)), max_size=4),
    cut=st.integers(0, len(GRAPH)),
)
def test_what_protobuf_reads_is_read_and_what_it_refuses_has_a_problem(
    noise: list[tuple[int, bytes]], cut: int
) -> None:
    changed_value = bytearray(GRAPH)
    for at, data in noise:
        changed_value[at : at + len(data)] = data
    content = bytes(changed_value[: cut if cut % 3 == 0 else len(changed_value)])
    header = header_of(content)
    try:
        model = onnx.load_from_string(content)
    except DecodeError:
        # Messages that are not looked into are not checked either: the header may be in order.
        assert len(header.inputs) < 10
        return
    graph = model.graph
    if "of the kind" in header.problem:
        # protobuf still takes groups, which ONNX has never had.
        return
    assert (header.problem == "") == model.HasField("graph")
    texts = {model_with_name(initializer.name) for initializer in graph.initializer}
    texts |= {
        model_with_name(sparse_initializer.values.name) for sparse_initializer in graph.sparse_initializer
    }
    names = dict.fromkeys(model_with_name(item.name) for item in graph.input)
    assert [tensor.name for tensor in header.inputs] == [name for name in names if name not in texts]


def model_with_name(name: str | bytes) -> str:
    """protobuf gives bytes where a name is not in UTF-8."""
    return name if isinstance(name, str) else name.decode("utf-8", "backslashreplace")
