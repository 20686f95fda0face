"""Whether the models of the Python backend have their code: a load without it never ends (tried with 24.10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fleet.findings import Finding, FindingsError

CODE = "model.py"
_COMMENT = re.compile(r"#.*")
_BACKEND = re.compile(r'\bbackend\s*:\s*["\']python["\']')
_FILE = re.compile(r'\bdefault_model_filename\s*:\s*["\']([^"\']+)["\']')


def check_python_code(models: Sequence[Path]) -> None:
    """See that each of the model directories has what its config.pbtxt calls for.

    Raises:
        FindingsError: a Python model has no code in any version.
    """
    findings = []
    for model in models:
        wanted = _wanted(model / "config.pbtxt")
        if wanted and not list(model.glob(f"[1-9]*/{wanted}")):
            message = (
                f"model {model.name!r} is of the Python backend and has no {wanted} in a version directory"
            )
            hint = f"put its code into {model.name}/1/{wanted}"
            findings.append(Finding(code="FL410", message=message, hint=hint, file=model))
    if findings:
        raise FindingsError(findings)


def _wanted(config: Path) -> str:
    """The file that a Python model is loaded from; empty for any other model."""
    text = _COMMENT.sub("", config.read_text("utf-8", "replace")) if config.is_file() else ""
    if not _BACKEND.search(text):
        return ""
    named = _FILE.search(text)
    return named[1] if named else CODE
