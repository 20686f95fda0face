"""Refusals of a config.pbtxt by protobuf, and who asks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from triton_fleet.repository.model_config import parse_config
from triton_fleet.repository.text_format.tokens import PbtxtError


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
    with pytest.raises(PbtxtError) as refusal:
        parse_config(text.encode())
    assert refusal.value.line == line
    assert problem in str(refusal.value)


def test_one_module_of_the_product_gives_a_configuration_to_protobuf(root: Path) -> None:
    files = [
        file for text in ("constructs", "triton_fleet", "stacks") for file in (root / text).rglob("*.py")
    ]
    readers = [
        file.relative_to(root).as_posix() for file in files if "text_format.Parse(" in file.read_text()
    ]
    assert readers == ["triton_fleet/repository/model_config.py"]


def test_the_name_of_the_file_has_one_home_in_the_product(root: Path) -> None:
    files = [
        file for text in ("constructs", "triton_fleet", "stacks") for file in (root / text).rglob("*.py")
    ]
    homes = [file.relative_to(root).as_posix() for file in files if '"config.pbtxt"' in file.read_text()]
    assert homes == ["triton_fleet/repository/model_config.py"]
