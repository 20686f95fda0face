"""What serves a model directory, as Triton completes its configuration, and where that is a stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fleet.local.triton.model_config import parse
from fleet.repository.backends import FILES, backend_of
from fleet.repository.model_config import CONFIG

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


def model_backend(model: Path) -> str:
    """The backend of a model directory; "" where nothing leads to one."""
    config = model_config(model)
    if config is None:
        return ""
    versions = sorted(entry for entry in model.iterdir() if entry.is_dir())
    names = [name for name in FILES if versions and (versions[0] / name).exists()]
    return backend_of(config, model.name, names)


def model_config(model: Path) -> Any | None:
    """The ModelConfig of a model directory; None where it cannot be read, which Triton will report."""
    file = model / CONFIG
    try:
        return parse(file.read_bytes() if file.exists() else b"")
    except OSError:
        return None


def stand_ins(repository: Path) -> Iterator[str]:
    """A line for each model of a staged repository that a stand-in for its backend serves."""
    for file in sorted(repository.rglob(CONFIG)):
        rewrite = SERVED_BY.get(model_backend(file.parent))
        if rewrite:
            yield f"{file.relative_to(repository)}: {rewrite}"
