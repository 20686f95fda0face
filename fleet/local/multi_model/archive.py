"""What an unpacked archive must have, because Triton would take it by chance, or hang, without."""

from __future__ import annotations

from pathlib import Path

from fleet.findings import FindingsError
from fleet.local.containers import Refusal
from fleet.local.triton.model_config import parse
from fleet.repository.main_model import main_model

PYTHON_FILE = "model.py"


def check_archive(repository: Path, target: str) -> None:
    """See that a target's unpacked archive can be judged by Triton; all other faults are Triton's to say.

    Raises:
        Refusal: its main model is left to chance, or a Python model has no code (a load of which never ends,
            tried with 24.10).
    """
    models = sorted(entry for entry in repository.iterdir() if entry.is_dir() and not entry.is_symlink())
    at_root = (repository / "config.pbtxt").exists()
    if models and not at_root:
        try:
            main_model(repository, [model.name for model in models])
        except FindingsError as error:
            raise _refusal(target, error.findings[0].message) from error
    for model in [repository] if at_root else models:
        if (wanted := _python_file(model)) and not list(model.glob(f"[1-9]*/{wanted}")):
            name = "the model" if at_root else f"model {model.name!r}"
            raise _refusal(
                target, f"{name} is of the Python backend and has no {wanted} in a version directory"
            )


def _python_file(model: Path) -> str:
    """The file of a Python model; empty for any other model."""
    file = model / "config.pbtxt"
    config = parse(file.read_text("utf-8", "replace")) if file.is_file() else None
    if config is None or config.backend != "python":
        return ""
    return str(config.default_model_filename or PYTHON_FILE)


def _refusal(target: str, said: str) -> Refusal:
    return Refusal(400, "ValidationError", f"{target}: {said}")
