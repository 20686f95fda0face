"""Triton's model configuration as the protobuf message that Triton itself parses it with."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import text_format


def parse(text: str) -> Any | None:
    """The ModelConfig message of a config.pbtxt; None where Triton's schema does not take it."""
    config = _schema().ModelConfig()
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


@cache
def _schema() -> Any:
    # The generated module by its file: importing the package tritonclient.grpc around it would need grpc.
    spec = importlib.util.find_spec("tritonclient")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise ModuleNotFoundError("tritonclient, which carries Triton's schema, is not installed")
    file = Path(places[0]) / "grpc" / "model_config_pb2.py"
    found = importlib.util.spec_from_file_location("fleet_triton_model_config", file)
    if found is None or found.loader is None:
        raise ModuleNotFoundError(f"no {file}")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
