"""What serves a model directory, as Triton completes its configuration, and where that is a stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from triton_fleet.local.triton.model_config import parse
from triton_fleet.repository.loading.models import models_of
from triton_fleet.repository.model_config import CONFIG
from triton_fleet.repository.reading.folder import read_folder

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
    return {name: each.backend for name, each in models.items() if each.backend not in ("", ENSEMBLE)}


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
