"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_atomically(file: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Write a file, text as UTF-8, so that a reader or a crash never sees half of it, or another mode."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
        Path(draft).chmod(mode)
        Path(draft).replace(file)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def is_up_to_date(file: Path, text: str) -> bool:
    """Whether the file holds that text already."""
    return file.is_file() and file.read_bytes() == text.encode()
