"""Files that are there whole or not at all."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def write_atomically(file: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Write a file, text as UTF-8, so that a reader or a crash never sees half of it, or another mode.

    What a writer leaves that is killed in the middle, the next one of the same file takes and removes.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.draft")
    with _alone(draft) as stream:
        try:
            os.fchmod(stream.fileno(), mode)
            stream.truncate()
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            draft.replace(file)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def _alone(draft: Path) -> Iterator[BinaryIO]:
    """A draft that nobody else writes; one that another writer has just put in its place is not it."""
    while True:
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX)
            try:
                is_it = os.path.samestat(os.fstat(handle), draft.lstat())
            except FileNotFoundError:
                continue
            if is_it:
                yield stream
                return


def is_up_to_date(file: Path, text: str) -> bool:
    """Whether the file holds that text already."""
    return file.is_file() and file.read_bytes() == text.encode()
