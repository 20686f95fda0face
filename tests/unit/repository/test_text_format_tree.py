"""Where the fields of a config.pbtxt stand, in either spelling of what is repeated."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.config_texts import VALID_TEXTS
from triton_fleet.repository.model_config import parse_config
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.repository.text_format.tree import Tree, parse

CONFIG = """\
# a licence

name: "bert"
input [
  { name: "a" dims: [ 1, -1 ] },
  {
    name: "b"
    dims: 2
    dims: 3
  }
]
input < name: "c"
  reshape { shape: [ ] } >
parameters { key: "ONE" value { string_value: "1" } }
parameters [
  {
    value: {
      string_value: "2" }
    key: "T" "WO"
  },
  { key: "ONE"
    value: { string_value: "one" } }
]
ensemble_scheduling {
  step { model_name: "x" }
  step {
    model_name: "y" input_map { key: "I"
      value: "J" }
  }
}
dynamic_batching { priority_queue_policy { key: 1 value { max_queue_size: 9 } }
  priority_queue_policy { key: 0x2 value {
    max_queue_size: 8 } } }
"""
FRAGMENTS = (
    *"{}[]<>:;,#\"'\\-+.0123456789aeExX\n \t\r\u00a0٣",
    " # c\n",
    "\\d",
    "\\x4",
    "\\u00e9",
    "\\377",
    "name",
    "[]",
)


@pytest.fixture(scope="module")
def tree() -> Tree:
    return parse(CONFIG.encode())


@pytest.mark.parametrize(
    ("path", "line", "column"),
    [
        ((), 1, 1),
        (("name",), 3, 1),
        (("input",), 4, 1),
        (("input", 0), 5, 3),
        (("input", 0, "dims"), 5, 15),
        (("input", 0, "dims", 1), 5, 26),
        (("input", 1), 6, 3),
        (("input", 1, "dims"), 8, 5),
        (("input", 1, "dims", 1), 9, 5),
        (("input", 2), 12, 1),
        (("input", 2, "name"), 12, 9),
        (("input", 2, "reshape", "shape"), 13, 13),
        (("parameters", "TWO"), 16, 3),
        (("parameters", "TWO", "string_value"), 18, 7),
        (("parameters", "TWO", "value", "string_value"), 18, 7),
        (("parameters", "TWO", "key"), 19, 5),
        (("parameters", 0, "value"), 14, 25),
        (("ensemble_scheduling", "step", 1, "model_name"), 27, 5),
        (("ensemble_scheduling", "step", 1, "input_map", "I"), 27, 21),
        (("ensemble_scheduling", "step", 1, "input_map", "I", "value"), 28, 7),
        (("dynamic_batching", "priority_queue_policy", "1"), 31, 20),
        (("dynamic_batching", "priority_queue_policy", "2", "max_queue_size"), 33, 5),
    ],
)
def test_a_field_is_found_by_names_numbers_and_keys(
    tree: Tree, path: tuple[str | int, ...], line: int, column: int
) -> None:
    assert (tree.line(*path), tree.column(*path)) == (line, column)


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("backend",), 1),
        (("backend", 2, "name"), 1),
        (("input", 0, "data_type"), 5),
        (("input", 7), 4),
        (("input", 7, "name"), 4),
        (("input", -1), 4),
        (("input", 1, "dims", 9), 8),
        (("name", "inner"), 3),
        (("parameters", "THREE"), 14),
        (("parameters", "TWO", "other"), 16),
        (("ensemble_scheduling", "step", 1, "output_map", "O"), 26),
        (("input", 2, "reshape", "shape", 0), 13),
    ],
)
def test_of_what_is_not_there_the_nearest_field_around_it_is_found(
    tree: Tree, path: tuple[str | int, ...], line: int
) -> None:
    assert tree.line(*path) == line


def test_of_two_entries_with_one_key_the_last_counts_as_it_does_for_protobuf(tree: Tree) -> None:
    assert tree.line("parameters", "ONE", "string_value") == 22


def test_columns_count_characters_and_no_byte_order_mark() -> None:
    tree = parse('\ufeffplatform: "é" name: "x"\n  backend: "y"'.encode())
    assert (tree.column("platform"), tree.column("name"), tree.column("backend")) == (1, 15, 3)
    assert tree.line("backend") == 2


def test_nothing_can_be_looked_up_in_an_empty_text() -> None:
    assert parse(b"").line("input", 0) == 1


@pytest.mark.parametrize(
    ("hostile", "problem"),
    [
        (b"a{" * (1 << 16), "nested deeper than 100 levels"),
        (b"a:[" + b"{a:[" * (1 << 16), "nested deeper than 100 levels"),
        (b"{" * (1 << 16), "the name of a field is expected"),
        (b'"\\' * (1 << 16), "does not belong here"),
        (b"a:" + b'"\n' * (1 << 16), "does not belong here"),
    ],
)
def test_a_hostile_text_is_refused(hostile: bytes, problem: str) -> None:
    with pytest.raises(PbtxtError, match=problem):
        parse(hostile)


def test_98_levels_within_each_other_are_read() -> None:
    tree = parse(b"a {\n" * 98 + b"b: 1" + b"}" * 98)
    assert tree.line(*["a"] * 98, "b") == 99


def test_many_small_fields_are_read() -> None:
    tree = parse(b"a{}\n" * (1 << 16))
    assert tree.line("a", (1 << 16) - 1) == 1 << 16


def test_the_blanks_and_digits_of_unicode_are_read_as_pythons_protobuf_reads_them() -> None:
    tree = parse("max_batch_size:\u00a0٣\u2003name: 'x'".encode())
    assert tree.column("name") == 19


def mutate_text(random: Random, text: str) -> str:
    """A few characters are gone, new, or there twice."""
    for _ in range(random.randint(1, 3)):
        start = random.randrange(len(text) + 1)
        end = start + random.choice([0, 0, 1, 2, 9])
        new = random.choice([random.choice(FRAGMENTS), "", text[start:end] * 2])
        text = text[:start] + new + text[end:]
    return text


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.sampled_from([CONFIG, *VALID_TEXTS.values()]), st.integers(min_value=0, max_value=2**32 - 1))
def test_what_protobuf_takes_is_read_and_the_rest_is_refused_by_line(text: str, seed: int) -> None:
    content = mutate_text(Random(seed), text).encode()
    try:
        message = parse_config(content)
    except PbtxtError as refused:
        assert 1 <= refused.line <= content.count(b"\n") + 1
        return
    assert {field.name for field, _ in message.ListFields()} <= {
        field.name for field in parse(content).root.fields
    }
