"""Archives of model repositories for tests, in memory and in files."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """A tar stream of files; a name that ends in a slash is a folder."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name.rstrip("/"))
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def gzip_bytes(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)


def archive(folder: Path, files: Mapping[str, bytes], name: str = "model.tar.gz") -> Path:
    file = folder / name
    file.write_bytes(gzip_bytes(tar_of(files)))
    return file


def folder_of(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return folder
