"""What an unpacked archive must have, because Triton would take it by chance, or hang, without."""

from __future__ import annotations

from pathlib import Path

from fleet.findings import FindingsError
from fleet.local.containers import Refusal
from fleet.repository.main_model import main_model
from fleet.repository.python.code import check_python_code


def check_archive(repository: Path, target: str) -> None:
    """See that a target's unpacked archive can be judged by Triton; all other faults are Triton's to say.

    Raises:
        Refusal: its main model is left to chance, or a Python model has no code.
    """
    models = sorted(entry for entry in repository.iterdir() if entry.is_dir() and not entry.is_symlink())
    try:
        if (repository / "config.pbtxt").exists():
            check_python_code([repository])
        elif models:
            main_model(repository, [model.name for model in models])
            check_python_code(models)
    except FindingsError as error:
        said = f"{target}: {error.findings[0].message}"
        raise Refusal(400, "ValidationError", said) from error
