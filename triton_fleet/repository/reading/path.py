"""A model repository in a folder or an archive."""

from __future__ import annotations

from pathlib import Path

from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.reading.archive import read_archive
from triton_fleet.repository.reading.folder import read_folder


def read(path: Path) -> Contents:
    """The content of a folder or an archive.

    Raises:
        FindingsError: it does not exist, cannot be opened, or is neither.
    """
    if path.is_dir():
        return read_folder(path)
    if not path.exists():
        message = "there is no model repository"
        raise FindingsError([Finding(code="FL401", message=message, file=path)])
    if not path.is_file():
        message = "it is neither a folder nor an archive"
        raise FindingsError([Finding(code="FL440", message=message, file=path)])
    return read_archive(path)
