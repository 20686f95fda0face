"""Digests of files that are larger than the memory."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_digest(file: Path) -> str:
    """`sha256:...` of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return f"sha256:{digest.hexdigest()}"
