"""What protobuf refuses of a config.pbtxt."""

from __future__ import annotations

import pytest

from fleet.repository.model_config import parse_config
from fleet.repository.text_format.tokens import PbtxtError


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
        parse_config(text.encode())
    assert refused.value.line == line
    assert problem in str(refused.value)
