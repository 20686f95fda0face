"""The model zoo's archives as git keeps them, and what its script makes of them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.fleet_folder import ROOT

EXAMPLE = ROOT / "examples" / "model_zoo"


def copy_repository(target: Path) -> Path:
    """The files that git keeps, without what was made."""
    omitted_files = shutil.ignore_patterns("sentences", "model.onnx", "__pycache__", ".*")
    shutil.copytree(EXAMPLE / "models", target, ignore=omitted_files)
    return target


def make_models(into: Path) -> str:
    """The script's message, up to the colon."""
    command: list[str | Path] = [sys.executable, EXAMPLE / "make_models.py", "--into", into]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return output.partition(":")[0]


def files(folder: Path) -> dict[str, bytes]:
    """Contents by place, hidden files included."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def with_graph(archive: Path, model: str, graph: bytes, target: Path) -> Path:
    """A copy of the archive with another graph in one of its models."""
    shutil.copytree(archive, target, ignore=shutil.ignore_patterns("model.onnx"))
    (target / model / "1").mkdir(exist_ok=True)
    (target / model / "1" / "model.onnx").write_bytes(graph)
    return target
