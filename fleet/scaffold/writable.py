"""Whether the files of a new fleet can be written, before any is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fleet.findings import CannotRunError


def require_writable(folder: Path, paths: Iterable[str]) -> None:
    """See that each file can be written where it belongs.

    Raises:
        CannotRunError: a file is in the place of a folder, or a folder in the place of a file.
    """
    for path in paths:
        file = folder / path
        if file.is_dir():
            raise CannotRunError(f"{file} is a folder, but a file has to be written there", "move the folder")
        for parent in (folder, *(folder / each for each in Path(path).parents)):
            if parent.exists() and not parent.is_dir():
                raise CannotRunError(
                    f"{parent} is a file, but a folder has to be created there", "move the file"
                )
