"""Where Python's protobuf reads a text otherwise than Triton's parser, Triton is followed."""

from __future__ import annotations

import pytest

from triton_fleet.repository.model_config import parse_config
from triton_fleet.repository.text_format.cpp import for_python
from triton_fleet.repository.text_format.tokens import PbtxtError

REFUSED_TEXTS = {
    b'name: "a" # \0': "Invalid control characters encountered in text.",
    b'name: "\0"': "Unexpected end of string.",
    b'name: "\\d"': "Invalid escape sequence in string literal.",
    b"max_batch_size: +1": "Expected integer, got: +",
    b"max_batch_size: 1_000": "Need space between number and identifier.",
    b"max_batch_size: 0xa_0": "Need space between number and identifier.",
    b"max_batch_size: - - 1": "Expected integer, got: -",
    b"\xef\xbb\xbfmax_batch_size: 1": "Interpreting non ascii codepoint 239.",
    b"max_batch_size:\xc2\xa01": "Interpreting non ascii codepoint 194.",
    b"max_batch_size: 1 \x1f": "Invalid control characters encountered in text.",
}
VALID_TEXTS = {
    b"max_batch_size: -\n 1": "max_batch_size: \n -1",
    b"max_batch_size: 1 # \xff": "max_batch_size: 1 # \ufffd",
    b'name: "\\xff"': 'name: "\\357\\277\\275"',
    b'name: "\\\\d"': 'name: "\\\\d"',
    b"max_batch_size: 1 ": "max_batch_size: 1 ",
}


@pytest.mark.parametrize(("text", "message"), REFUSED_TEXTS.items())
def test_what_triton_refuses_is_refused_in_its_words(text: bytes, message: str) -> None:
    with pytest.raises(PbtxtError, match="^" + message.replace("+", r"\+").replace(".", r"\.") + "$"):
        parse_config(text)


@pytest.mark.parametrize(("text", "read"), VALID_TEXTS.items())
def test_what_triton_takes_is_written_as_python_takes_it(text: bytes, read: str) -> None:
    written_text = for_python(text)
    assert written_text.count("\n") == text.count(b"\n")
    assert parse_config(text) is not None
    assert written_text == read or "\ufffd" in written_text


def test_a_place_is_told_by_line_and_column() -> None:
    with pytest.raises(PbtxtError) as refusal:
        parse_config(b'name: "a"\nbackend: "\\q"')
    assert (refusal.value.line, refusal.value.column) == (2, 10)
