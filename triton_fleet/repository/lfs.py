"""Files that Git LFS has not fetched: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md."""

from __future__ import annotations

import re
from pathlib import Path

from triton_fleet.core.sizes import format_size
from triton_fleet.findings import Finding
from triton_fleet.repository.stream import Stream

BEGIN = b"version https://git-lfs"
IS_POINTER = "it is only a Git LFS pointer: run `git lfs pull`"
CODE = "FL750"
MIN_BYTES, MAX_BYTES = 100, 1023
"""Of a pointer."""
_SIZE = re.compile(rb"^size ([0-9]{1,18})$", re.MULTILINE)


def is_pointer(stream: Stream) -> bool:
    """Whether what comes next is the text that stands for a file."""
    return stream.peek(len(BEGIN)) == BEGIN


def lfs_size(content: bytes) -> int | None:
    """The bytes of the file that a pointer stands for; None of content that is not a pointer."""
    if not content.startswith(BEGIN) or len(content) > MAX_BYTES:
        return None
    size = _SIZE.search(content)
    return int(size[1]) if size else 0


def lfs_finding(file: Path, size: int) -> Finding:
    """The error for a file that Git LFS has not fetched."""
    message = f"this clone has only Git LFS's pointer to the file, which has {format_size(size)}"
    return Finding(code=CODE, message=message, hint="run `git lfs pull`", file=file)
