"""Triton's model configuration as a message that can be changed, and as text."""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from typing import Any

from google.protobuf import text_format

from triton_fleet.repository.model_config import parse_config
from triton_fleet.repository.text_format.tokens import PbtxtError


def parse(content: bytes) -> Any | None:
    """The ModelConfig message of a config.pbtxt; None where Triton's schema does not take it."""
    with suppress(PbtxtError):
        return deepcopy(parse_config(content))
    return None


def write(config: Any) -> str:
    """The message as a config.pbtxt."""
    return text_format.MessageToString(config, as_utf8=True)


def one_line(message: Any) -> str:
    """Any part of the message on one line, for people."""
    return text_format.MessageToString(message, as_utf8=True, as_one_line=True)
