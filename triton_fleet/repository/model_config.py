"""A model's config.pbtxt as Triton's own message, and what follows from it: nothing else reads the file.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc and
src/model_repository_manager/model_lifecycle.cc.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import tritonclient

from triton_fleet.repository.text_format.cpp import for_python
from triton_fleet.repository.text_format.parser import Message, Scalar, elements
from triton_fleet.repository.text_format.tokens import PbtxtError
from triton_fleet.repository.text_format.tree import parse

CONFIG = "config.pbtxt"
MAX_BYTES = 1 << 20
MAX_LINE = 1 << 16
"""Bytes of a line: protobuf's time grows with the square of them, where fields are unknown."""
MAX_BACKSLASHES = 256
"""In a row: protobuf's time grows with the square of them."""
SIZES = {
    "TYPE_BOOL": 1,
    "TYPE_UINT8": 1,
    "TYPE_UINT16": 2,
    "TYPE_UINT32": 4,
    "TYPE_UINT64": 8,
    "TYPE_INT8": 1,
    "TYPE_INT16": 2,
    "TYPE_INT32": 4,
    "TYPE_INT64": 8,
    "TYPE_FP16": 2,
    "TYPE_BF16": 2,
    "TYPE_FP32": 4,
    "TYPE_FP64": 8,
}
"""Bytes of one element; a string has no size of its own."""
MAX_COUNT = 2**63 - 1
"""Triton counts in 64 bits, and refuses shapes beyond."""


def within_bounds(content: bytes) -> bool:
    """Whether a config.pbtxt is parsed at all."""
    return len(content) <= MAX_BYTES and max(map(len, content.split(b"\n"))) <= MAX_LINE


@lru_cache(maxsize=64)
def parse_config(content: bytes, *, later: bool = False) -> Any:
    """The ModelConfig message that a file is; not to be changed by the caller.

    The last ones are cached: what is checked of an endpoint was read for its lock before.

    Args:
        content: The file.
        later: Whether fields that the schema does not have are ignored, because a later Triton may have them.

    Raises:
        PbtxtError: protobuf refuses the file, or would take too long; or it is nested deeper than Python's
            recursion goes.
    """
    from google.protobuf import text_format  # most commands read no configuration

    config = _schema().ModelConfig()
    if not within_bounds(content):
        raise PbtxtError(1, "this is not a configuration of a model: it, or a line of it, is far too long")
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
        except RecursionError as error:
            raise PbtxtError(1, "the file is nested deeper than Triton reads") from error
        except ValueError as error:  # protobuf does not catch its own, of the number of an enum
            raise PbtxtError(_line_beyond_range(content, config.DESCRIPTOR), str(error)) from error
    return config


def model_config(content: bytes) -> Any | None:
    """The message as `parse_config` has it, without fields of a later Triton; None if it cannot be read."""
    for later in (False, True):
        with suppress(PbtxtError):
            return parse_config(content, later=later)
    return None


def loaded_versions(config: Any, present_numbers: Collection[str]) -> list[str]:
    """Those of the version directories that Triton would load, the newest first."""
    newest, policy = sorted(present_numbers, key=int, reverse=True), config.version_policy
    match policy.WhichOneof("policy_choice"):
        case "all":
            return newest
        case "specific":
            policy_numbers = set(policy.specific.versions)
            return [version for version in newest if int(version) in policy_numbers]
        case "latest":
            return newest[: policy.latest.num_versions]
        case _:
            return newest[:1]


def item_bytes(config: Any) -> int:
    """Bytes of the inputs that a request of batch size 1 has to have.

    A variable dimension counts as 1, a string as 0; at most 2**63 - 1.
    """
    tensors = (tensor for tensor in config.input if not tensor.optional)
    return min(sum(map(_input_bytes, tensors)), MAX_COUNT)


def _input_bytes(model_input: Any) -> int:
    types = type(model_input).DESCRIPTOR.fields_by_name["data_type"].enum_type.values_by_number
    item_size = types.get(model_input.data_type)
    size = SIZES.get(item_size.name, 0) if item_size else 0
    for dimension in model_input.dims:
        size = min(size * max(dimension, 1), MAX_COUNT)
    return size


@cache
def _schema() -> Any:
    """Triton's schema, from its file: the package around it imports gRPC, which takes a fifth of a second."""
    file = Path(tritonclient.__path__[0]) / "grpc" / "model_config_pb2.py"
    module_spec = spec_from_file_location(file.stem, file)
    assert module_spec is not None and module_spec.loader is not None  # noqa: S101 - it is a Python file
    schema = module_from_spec(module_spec)
    module_spec.loader.exec_module(schema)
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
    return next((tree.line_of(field.at) for field in _beyond_range(tree.root, descriptor)), 1)


def _beyond_range(message: Message, descriptor: Any) -> Iterator[Scalar]:
    """The numbers of enums that have more than 32 bits."""
    for element in elements(message.fields):
        field = descriptor.fields_by_name.get(element.name)
        if isinstance(element.value, Message) and field:
            yield from _beyond_range(element.value, field.message_type)
        elif isinstance(element.value, Scalar) and field and field.enum_type and _is_long(element.value.text):
            yield element.value


def _is_long(word: str) -> bool:
    try:
        return not -(2**31) <= int(word, 0) < 2**31
    except ValueError:
        return False
