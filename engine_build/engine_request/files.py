"""Names of the input and output files of a container, and digests of files larger than the memory."""

from __future__ import annotations

import hashlib
from pathlib import Path

REQUEST, ONNX, SCRIPT = "request.json", "model.onnx", "script.zip"
PLAN, RECORD = "model.plan", "record.json"
"""The record is written last: without one there is no plan."""


def file_digest(file: Path) -> str:
    """`sha256:...` of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"
