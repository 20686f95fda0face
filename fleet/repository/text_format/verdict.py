"""Whether protobuf can parse a file as a config.pbtxt; nothing else decides that."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import tritonclient

from fleet.repository.text_format.cpp import for_python
from fleet.repository.text_format.nodes import Message, Scalar, elements
from fleet.repository.text_format.tokens import PbtxtError
from fleet.repository.text_format.tree import parse

MAX_BACKSLASHES = 256
"""In a row: protobuf's time grows with the square of them."""


@lru_cache(maxsize=64)
def parse_config(content: bytes, *, later: bool = False) -> Any:
    """The ModelConfig message that a file is; not to be changed by the caller.

    The last ones are cached: what is checked of an endpoint was read for its lock before.

    Args:
        content: The file.
        later: Whether fields that the schema does not have are ignored, because a later Triton may have them.

    Raises:
        PbtxtError: protobuf refuses the file, or would take too long.
    """
    from google.protobuf import text_format  # most commands read no configuration

    config = _schema().ModelConfig()
    _check_backslashes(content)
    text = for_python(content)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # of Python, for escapes that protobuf hands on to it
        try:
            text_format.Parse(text, config, allow_unknown_field=later)
        except text_format.ParseError as error:
            raise PbtxtError(error.GetLine() or 1, _problem(error, text), error.GetColumn()) from error
        except ValueError as error:  # protobuf does not catch its own, of the number of an enum
            raise PbtxtError(_line_beyond_range(content, config.DESCRIPTOR), str(error)) from error
    return config


@cache
def _schema() -> Any:
    """Triton's schema, from its file: the package around it imports gRPC, which takes a fifth of a second."""
    file = Path(tritonclient.__path__[0]) / "grpc" / "model_config_pb2.py"
    found = spec_from_file_location(file.stem, file)
    assert found is not None and found.loader is not None  # noqa: S101 - it is a Python file
    schema = module_from_spec(found)
    found.loader.exec_module(schema)
    return schema


def _check_backslashes(content: bytes) -> None:
    run = content.find(b"\\" * (MAX_BACKSLASHES + 1))
    if run >= 0:
        raise PbtxtError(
            content.count(b"\n", 0, run) + 1, f"more than {MAX_BACKSLASHES} backslashes stand in a row"
        )


def _problem(error: Any, text: str) -> str:
    """Protobuf's message, without the place and the whole line, which a finding has of its own."""
    message = str(error)
    line, column = error.GetLine(), error.GetColumn()
    if line is None:
        return message
    whole_line = text.split("\n")[line - 1]
    return message.removeprefix(f"{line}:{column} : ").removeprefix(f"'{whole_line}': ")


def _line_beyond_range(content: bytes, descriptor: Any) -> int:
    tree = parse(content)
    return next((tree.line_of(each.at) for each in _beyond_range(tree.root, descriptor)), 1)


def _beyond_range(message: Message, descriptor: Any) -> Iterator[Scalar]:
    """The numbers of enums that have more than 32 bits."""
    for each in elements(message.fields):
        field = descriptor.fields_by_name.get(each.name)
        if isinstance(each.value, Message) and field:
            yield from _beyond_range(each.value, field.message_type)
        elif isinstance(each.value, Scalar) and field and field.enum_type and _is_long(each.value.text):
            yield each.value


def _is_long(word: str) -> bool:
    try:
        return not -(2**31) <= int(word, 0) < 2**31
    except ValueError:
        return False
