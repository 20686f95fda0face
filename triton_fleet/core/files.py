"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from triton_fleet.findings import CannotRunError

DRAFT = ".draft"
NO_LINK = "replace the link with what it leads to, if that belongs here, or remove it"
PRIVATE = ".fleet"
"""The folder of a fleet for logs, drafts and the state of commands; Git ignores it."""


def private_folder(root: Path, *parts: str) -> Path:
    """The folder `.fleet` of a fleet, or one below it, made so that only its owner can enter it.

    Raises:
        CannotRunError: a part of its path below the root is a link.
    """
    folder = root / PRIVATE
    for part in ("", *parts):
        folder = require_no_link(root, folder / part)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) != 0o700:  # of an earlier version
            folder.chmod(0o700)
    return folder


def open_for_owner(path: str, flags: int) -> int:
    """The `opener` of a file that only its owner can read."""
    return os.open(path, flags, 0o600)


UNWRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
"""The operating system's errors for a file or folder that this user may not write."""
FULL = frozenset({errno.EDQUOT, errno.ENOSPC})


def write_problem(file: Path | str, error: OSError) -> CannotRunError:
    """That a file or folder cannot be written, with what helps."""
    remedy = ""
    if error.errno in UNWRITABLE:
        remedy = "let this user write there, or run the command in a copy of the fleet"
    elif error.errno in FULL:
        remedy = "make room, and run the command again"
    return CannotRunError(f"{file} cannot be written: {error.strerror}", remedy)


def require_writable(folder: Path, paths: Iterable[str]) -> None:
    """Refuse paths of files in a folder that cannot be written, before any is.

    Raises:
        CannotRunError: a file is in the place of a folder, or a folder in the place of a file.
    """
    for path in paths:
        file = folder / path
        if file.is_dir():
            raise CannotRunError(f"{file} is a folder, but a file has to be written there", "move the folder")
        for parent in (folder, *(folder / folder_or_file for folder_or_file in Path(path).parents)):
            if parent.exists() and not parent.is_dir():
                raise CannotRunError(
                    f"{parent} is a file, but a folder has to be created there", "move the file"
                )


def require_no_link(root: Path, path: Path) -> Path:
    """The path, of which no part below the root is a link: a stranger's clone may have one to any place.

    Raises:
        CannotRunError: one is; or the path is outside of the root.
    """
    try:
        parts = path.relative_to(root).parts
    except ValueError as error:
        raise CannotRunError(f"{path} is outside of {root}", f"name a file in {root}") from error
    for count in range(len(parts)):
        place = root.joinpath(*parts[: count + 1])
        if place.is_symlink():
            raise CannotRunError(f"{place} is a link, and nothing is read or written through it", NO_LINK)
    return path


def replace_file(
    file: Path, content: str | bytes, *, mode: int = 0o644, root: Path | None = None, overwrite: bool = True
) -> None:
    """Write a file, text as UTF-8, so that a reader or a crash never sees half of it, or another mode.

    What a writer leaves that is killed in the middle, the next one of the same file removes.

    Args:
        file: The file; folders that it needs are made.
        content: What it is to hold.
        mode: Its permissions.
        root: The folder of the fleet or the clone that the file belongs to, below which no link is followed;
            None for a file that the user names.
        overwrite: Whether the file may exist.

    Raises:
        FileExistsError: it exists, without `overwrite`.
        CannotRunError: a part of the path below `root` is a link.
    """
    if root is not None:
        require_no_link(root, file)
    file.parent.mkdir(parents=True, exist_ok=True)
    _remove_drafts(file)
    with _draft(file) as (handle, draft):
        try:
            with os.fdopen(handle, "wb", closefd=False) as stream:
                stream.write(content.encode() if isinstance(content, str) else content)
            os.fchmod(handle, mode)
            if overwrite:
                draft.replace(file)
            else:
                os.link(draft, file)
                draft.unlink()
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


@contextmanager
def _draft(file: Path) -> Iterator[tuple[int, Path]]:
    """A draft, locked while its writer lives; one that was treated as abandoned before that is made again."""
    while True:
        try:
            handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=DRAFT)
        except OSError as error:
            error.filename = str(file)  # not that of its draft
            raise
        try:
            with suppress(OSError):  # a file system without locks, where no draft is treated as abandoned
                fcntl.flock(handle, fcntl.LOCK_EX)
            if os.fstat(handle).st_nlink:
                yield handle, Path(name)
                return
        finally:
            os.close(handle)


def _remove_drafts(file: Path) -> None:
    """Remove the drafts of a file whose writers were killed: they are not locked."""
    for draft in file.parent.glob(f".{escape(file.name)}.*{DRAFT}"):
        with suppress(OSError):
            handle = os.open(draft, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                draft.unlink()
            finally:
                os.close(handle)


def is_up_to_date(file: Path, text: str) -> bool:
    """Whether the file holds that text already."""
    return file.is_file() and file.read_bytes() == text.encode()
