"""Triton's model configuration as the protobuf message that Triton itself parses it with."""

from __future__ import annotations

from typing import Any

from google.protobuf import text_format
from tritonclient.grpc import model_config_pb2


def parse(text: str) -> Any | None:
    """The ModelConfig message of a config.pbtxt; None where Triton's schema does not take it."""
    config = model_config_pb2.ModelConfig()  # type: ignore[attr-defined]  # it is made by the import
    try:
        text_format.Parse(text, config)
    except text_format.ParseError:
        return None
    return config


def write(config: Any) -> str:
    """The message as a config.pbtxt."""
    return text_format.MessageToString(config, as_utf8=True)


def one_line(message: Any) -> str:
    """Any part of the message on one line, for people."""
    return text_format.MessageToString(message, as_utf8=True, as_one_line=True)
