"""Triton's model configuration as a message that can be changed, and as text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from triton_fleet.repository.loading.models import models_of
from triton_fleet.repository.model_config import CONFIG, parse_config
from triton_fleet.repository.reading.folder import read_folder
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


ENSEMBLE = "ensemble"
STAND_INS = {
    "dali": "a stand-in for DALI runs its pipeline with numpy and Pillow, on the CPU",
    "pytorch": "a stand-in for PyTorch's backend runs the TorchScript model, on the CPU",
    "tensorrt": "a stand-in for TensorRT runs the ONNX model of its plan, on the CPU",
}
"""Backends that this machine lacks, and what serves their models here."""
SERVED_BY = STAND_INS | {
    "onnxruntime": "a stand-in for ONNX Runtime's backend runs the model with onnxruntime, on the CPU"
}
"""With one that loads and refuses as the backend itself does."""


def model_backends(repository: Path) -> dict[str, str]:
    """The backend of each model by directory, "" for the root, as Triton completes it; without ensembles."""
    models = models_of(read_folder(repository))[0]
    return {name: model.backend for name, model in models.items() if model.backend not in ("", ENSEMBLE)}


def model_config(model: Path) -> Any | None:
    """The ModelConfig of a model directory; None where it cannot be read, which Triton will report."""
    file = model / CONFIG
    try:
        return parse(file.read_bytes() if file.exists() else b"")
    except OSError:
        return None


def stand_ins(repository: Path) -> Iterator[str]:
    """A line for each model of a staged repository that a stand-in for its backend serves."""
    for name, backend in model_backends(repository).items():
        if backend in SERVED_BY:
            yield f"{Path(name, CONFIG)}: {SERVED_BY[backend]}"
