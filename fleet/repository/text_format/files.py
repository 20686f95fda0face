"""Files in protobuf's text format, by path, and what each becomes in canonical form."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from fleet.findings import Finding, FindingsError
from fleet.repository.text_format.canonical import canonical
from fleet.repository.text_format.tokens import PbtxtError

SUFFIX = ".pbtxt"
MAX_BYTES = 1 << 20


def pbtxt_files(paths: Sequence[Path]) -> list[Path]:
    """The files that are named, and those below the folders that are; each once, in order of the paths.

    Below a folder, what is hidden or a link is left out.

    Raises:
        FindingsError: a path leads to neither a file nor a folder.
    """
    missing = [path for path in paths if not path.is_file() and not path.is_dir()]
    if missing:
        message, hint = "no file and no folder is there", "name a config.pbtxt, or a folder that holds some"
        raise FindingsError(
            [Finding(code="FL483", message=message, hint=hint, file=path) for path in missing]
        )
    found: dict[Path, Path] = {}
    for path in paths:
        for file in _below(path) if path.is_dir() else (path,):
            found.setdefault(file.resolve(), file)
    return list(found.values())


def canonical_of(stream: BinaryIO, file: Path) -> tuple[bytes, bytes]:
    """What a file of this name says, and its canonical form.

    Raises:
        FindingsError: the file is larger than 1 MiB, or protobuf refuses it.
    """
    content = stream.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        message = f"the file is larger than {MAX_BYTES} bytes"
        raise FindingsError([Finding(code="FL482", message=message, file=file)])
    try:
        return content, canonical(content).encode()
    except PbtxtError as error:
        raise FindingsError([_refused(file, error)]) from error


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder, onerror=_raise):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(parent, name)
            if (
                name.endswith(SUFFIX)
                and not name.startswith(".")
                and file.is_file()
                and not file.is_symlink()
            ):
                yield file


def _raise(error: OSError) -> None:
    raise error


def _refused(file: Path, error: PbtxtError) -> Finding:
    return Finding(
        code="FL480",
        message=f"protobuf does not take this file for a model's configuration: {error}",
        file=file,
        line=error.line,
        column=error.column,
        hint="only what Triton could parse is formatted; nothing was changed",
    )
