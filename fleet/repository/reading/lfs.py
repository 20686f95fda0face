"""Files that Git LFS has not fetched: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md."""

from __future__ import annotations

from fleet.repository.reading.stream import Stream

BEGIN = b"version https://git-lfs"
IS_POINTER = "it is only Git LFS's pointer to the file: run `git lfs pull`"


def is_pointer(stream: Stream) -> bool:
    """Whether what comes next is the text that stands for a file."""
    return stream.peek(len(BEGIN)) == BEGIN
