"""The canonical form of a config.pbtxt."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fleet.repository.text_format.canonical import canonical
from fleet.repository.text_format.tokens import PbtxtError


def formatted(text: str) -> str:
    """What becomes of a text, which is canonical itself then."""
    result = canonical(dedent(text).encode())
    assert canonical(result.encode()) == result
    return result


def test_fields_come_in_the_order_of_the_schema_and_lists_and_maps_in_their_own() -> None:
    assert formatted(
        """
        dynamic_batching: <>
        parameters { value: {string_value: '2'}, key: 'b' }
        output { dims: -1 name: "out"; data_type: 11 }
        max_batch_size: 0x8, platform: 'x' "y";
        input { name: "one", dims: 1 dims: [ 2, 3 ] } input [ < name: "two" > ]
        parameters { key: 'a' }
        instance_group [ {} ]
        """
    ) == dedent(
        """\
        platform: "xy"
        max_batch_size: 8
        input [
          {
            name: "one"
            dims: [ 1, 2, 3 ]
          },
          {
            name: "two"
          }
        ]
        output [
          {
            name: "out"
            data_type: TYPE_FP32
            dims: [ -1 ]
          }
        ]
        dynamic_batching { }
        instance_group [
          { }
        ]
        parameters {
          key: "b"
          value {
            string_value: "2"
          }
        }
        parameters {
          key: "a"
        }
        """
    )


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("name: 'it\\'s \"é\"\\t\\\\'", 'name: "it\'s \\"é\\"\\t\\\\"'),
        ('name: "\\u00e9\\303\\251\\x7f"', 'name: "éé\\177"'),
        ("max_batch_size: 0", "max_batch_size: 0"),
        ("max_batch_size: 0 max_batch_size: 010", "max_batch_size: 0\nmax_batch_size: 8"),
        ("response_cache { enable: t }", "response_cache {\n  enable: true\n}"),
        (
            "version_policy { specific { versions: [] } }",
            "version_policy {\n  specific {\n    versions: [ ]\n  }\n}",
        ),
        ("input []", "input [ ]"),
        ("parameters: []", "parameters [ ]"),
        ("input { data_type: 99 }", "input [\n  {\n    data_type: 99\n  }\n]"),
        (
            "sequence_batching { direct { minimum_slot_utilization: 0.100000001f } }",
            "sequence_batching {\n  direct {\n    minimum_slot_utilization: 0.1\n  }\n}",
        ),
    ],
)
def test_a_value_has_one_spelling_and_none_is_left_out(written: str, expected: str) -> None:
    assert formatted(written) == f"{expected}\n"


@pytest.mark.parametrize("literal", ['"\\?"', "'a' \"\\?\"", '"\\xff"'])
def test_a_string_whose_escapes_python_and_triton_read_differently_stays_as_it_is(literal: str) -> None:
    assert formatted(f"name:{literal}") == f"name: {literal}\n"


def test_a_list_of_scalars_that_is_too_wide_has_a_line_for_each() -> None:
    numbers = [str(1000000 + number) for number in range(11)]
    of = "dynamic_batching {{ preferred_batch_size: [{}] }}"
    assert f"[ {', '.join(numbers[:7])} ]" in formatted(of.format(",".join(numbers[:7])))
    wide = formatted(of.format(",".join(numbers)))
    assert wide.splitlines()[1:4] == ["  preferred_batch_size: [", "    1000000,", "    1000001,"]
    assert wide.splitlines()[-4:] == ["    1000009,", "    1000010", "  ]", "}"]


@pytest.mark.parametrize("nothing", ["", "\n \n"])
def test_a_file_that_says_nothing_is_empty(nothing: str) -> None:
    assert formatted(nothing) == ""


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('name: "x"\nnme: "y"', 2, 'Message type "inference.ModelConfig" has no field named "nme".'),
        ("\nmax_batch_size: 'x'", 2, "Couldn't parse integer: 'x'"),
        ("dynamic_batching {}\nsequence_batching {}", 2, "is specified along with field"),
        ("{% for x in y %}", 1, "Expected identifier or number, got {."),
        ("name: 'x'\ninput {\n  data_type: 99999999999 }", 3, "Value out of range: 99999999999"),
        ("name: '" + "\\" * 258 + "'", 1, "more than 256 backslashes"),
        ("name: 'x'\nbackend: '\\d'", 2, "Invalid escape sequence in string literal."),
        ("\ufeffname: 'x'", 1, "Interpreting non ascii codepoint 239."),
    ],
)
def test_what_protobuf_refuses_is_refused_by_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(PbtxtError) as refused:
        canonical(text.encode())
    assert refused.value.line == line
    assert problem in str(refused.value)


def test_bytes_that_are_not_utf_8_are_refused_by_line() -> None:
    with pytest.raises(PbtxtError, match="byte 0xff is not UTF-8") as refused:
        canonical(b'name: "x"\nbackend: "\xff"')
    assert refused.value.line == 2
