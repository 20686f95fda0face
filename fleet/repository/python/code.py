"""Whether Python models have their code: a load without it never ends (tried with 24.10)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from fleet.findings import Finding, FindingsError
from fleet.repository.layout import is_version

CODE = "model.py"
_COMMENT = re.compile(r"#.*")
_BACKEND = re.compile(r'\bbackend\s*:\s*["\']python["\']')
_FILE = re.compile(r'\bdefault_model_filename\s*:\s*["\']([^"\']+)["\']')


def check_python_code(models: Sequence[Path]) -> None:
    """See that each of the model directories has what its config.pbtxt calls for.

    Raises:
        FindingsError: a Python model has no code in the version that Triton loads.
    """
    findings = [_without_code(model, wanted) for model in models if (wanted := _lacking(model))]
    if findings:
        raise FindingsError(findings)


def _lacking(model: Path) -> str:
    """The file that a Python model would be loaded from and does not have; empty for any other model."""
    config = model / "config.pbtxt"
    text = _COMMENT.sub("", config.read_text("utf-8", "replace")) if config.is_file() else ""
    if not _BACKEND.search(text):
        return ""
    named = _FILE.search(text)
    wanted = named[1] if named else CODE
    versions = sorted((int(each.name), each) for each in model.iterdir() if is_version(each.name))
    # Without a policy Triton loads the latest version; with one, it is enough that any has the code.
    loaded = versions if "version_policy" in text else versions[-1:]
    inside = Path(wanted).name == wanted
    return "" if inside and any((version / wanted).is_file() for _, version in loaded) else wanted


def _without_code(model: Path, wanted: str) -> Finding:
    message = (
        f"model {model.name!r} is of the Python backend and has no {wanted} in the version that is loaded"
    )
    hint = f"put its code into {wanted} beside the version's other files"
    return Finding(code="FL410", message=message, hint=hint, file=model)
