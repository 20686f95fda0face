"""A model's config.pbtxt as Triton's own message, and what follows from it.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc and
src/model_repository_manager/model_lifecycle.cc.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

from fleet.repository.text_format.tokens import PbtxtError
from fleet.repository.text_format.verdict import parse_config

MAX_LINE = 1 << 16
"""Bytes of a line: protobuf's time grows with the square of them, where fields are unknown."""
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
MAX_BYTES = 2**63 - 1
"""Triton counts in 64 bits, and refuses shapes beyond."""


def within_bounds(content: bytes) -> bool:
    """Whether a config.pbtxt is parsed at all."""
    return max(map(len, content.split(b"\n"))) <= MAX_LINE


def model_config(content: bytes) -> Any | None:
    """The ModelConfig message of a config.pbtxt, not to be changed by the caller; None if it cannot be read.

    Fields of a later Triton are passed over. What is nested deeper than Python's recursion goes cannot be
    read; lines beyond 64 KiB are not.
    """
    if not within_bounds(content):
        return None
    with suppress(PbtxtError, RecursionError):
        return parse_config(content)
    with suppress(PbtxtError, RecursionError):
        return parse_config(content, later=True)
    return None


def loaded_versions(config: Any, there: Collection[str]) -> list[str]:
    """Those of the version directories that Triton would load, the newest first."""
    newest, policy = sorted(there, key=int, reverse=True), config.version_policy
    match policy.WhichOneof("policy_choice"):
        case "all":
            return newest
        case "specific":
            wanted = set(policy.specific.versions)
            return [version for version in newest if int(version) in wanted]
        case "latest":
            return newest[: policy.latest.num_versions]
        case _:
            return newest[:1]


def item_bytes(config: Any) -> int:
    """Bytes of the inputs that a request of batch size 1 has to have.

    A variable dimension counts as 1, a string as 0; at most 2**63 - 1.
    """
    required = (each for each in config.input if not each.optional)
    return min(sum(map(_input_bytes, required)), MAX_BYTES)


def _input_bytes(model_input: Any) -> int:
    types = type(model_input).DESCRIPTOR.fields_by_name["data_type"].enum_type.values_by_number
    known = types.get(model_input.data_type)
    size = SIZES.get(known.name, 0) if known else 0
    for dimension in model_input.dims:
        size = min(size * max(dimension, 1), MAX_BYTES)
    return size
