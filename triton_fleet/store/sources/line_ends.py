"""Line ends of text files: git writes CRLF in one clone and LF in another, and an archive has LF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from isal import isal_zlib

from triton_fleet.store.archive import crc_text

TEXT = {
    *(".cfg", ".csv", ".ini", ".json", ".jsonl", ".md", ".pbtxt", ".py", ".sh"),
    *(".toml", ".tsv", ".txt", ".xml", ".yaml", ".yml"),
}
"""Endings of names of text to whose readers both line ends are the same, or LF is the right one in Linux."""
MAX_BYTES = 64 << 20
"""Of a file that is compared with other line ends."""


def is_text(name: str) -> bool:
    """Whether a file of that name is text, unless it has a zero byte."""
    return PurePosixPath(name).suffix in TEXT


def lf_size(name: str, chunks: Callable[[], Iterator[bytes]]) -> int | None:
    """The bytes that a text file has with LF for CRLF; None of one that is packed as it is."""
    if not is_text(name):
        return None
    before = after = 0

    def counted() -> Iterator[bytes]:
        nonlocal before
        for chunk in chunks():
            before += len(chunk)
            yield chunk

    for chunk in without_cr(counted()):
        if b"\0" in chunk:  # UTF-16, or no text
            return None
        after += len(chunk)
    return after if after != before else None


def without_cr(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same text with LF for CRLF; another CR stays."""
    held = b""
    for chunk in chunks:
        text = held + chunk
        held = b"\r" if text.endswith(b"\r") else b""
        yield text.removesuffix(held).replace(b"\r\n", b"\n")
    if held:
        yield held


def differs_in_line_ends(file: Path, checksum: str) -> bool:
    """Whether a file would have that checksum, `crc32:00c0ffee`, with other line ends."""
    try:
        if file.stat().st_size > MAX_BYTES:
            return False
        content = file.read_bytes()
    except OSError:
        return False
    with_lf = content.replace(b"\r\n", b"\n")
    return b"\0" not in content and any(
        crc_text(isal_zlib.crc32(each)) == checksum for each in (with_lf, with_lf.replace(b"\n", b"\r\n"))
    )
