"""Tar streams made block by block: what nobody's tar program writes, and what some do."""

from __future__ import annotations

import io
import tarfile

END = bytes(2 * tarfile.BLOCKSIZE)


def padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % tarfile.BLOCKSIZE)


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info.tobuf(tarfile.USTAR_FORMAT)


def file(name: str, content: bytes = b"") -> bytes:
    return header(name, len(content)) + padded(content)


def folder(name: str) -> bytes:
    return header(name, kind=tarfile.DIRTYPE)


def extended(records: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    return header("pax", len(records), kind) + padded(records)


def record(key: str, value: str) -> bytes:
    """`LENGTH KEY=VALUE`, the length being that of all of it."""
    rest = f" {key}={value}\n".encode()
    length = len(rest)
    while len(str(length)) + len(rest) != length:
        length = len(str(length)) + len(rest)
    return str(length).encode() + rest


def written_by_tarfile(files: dict[str, bytes], kind: int, *, prefix: str = "") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=kind) as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(prefix + name)
            info.size, info.mtime = len(content), 1.5
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()
