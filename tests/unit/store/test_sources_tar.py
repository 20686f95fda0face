"""A tar stream from elsewhere passes through byte for byte, and nothing in it is trusted."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hostile_tar import END, extended_header, file, folder, header, record, written_by_tarfile
from triton_fleet.repository.contents import Entry, EntryKind
from triton_fleet.repository.reading.archive import strict_members
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.gunzip import MAX_SIZE, Bounds, gunzip
from triton_fleet.repository.reading.paths import Paths
from triton_fleet.repository.stream import ChunkStream, UnreadableError


def chunks(content: bytes, size: int = 700) -> Iterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


def gzip_bytes(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


def of_a_user(name: bytes) -> bytes:
    """A file whose owner has a name of these bytes."""
    info = tarfile.TarInfo("a")
    info.uname = name.decode("utf-8", "surrogateescape")
    return info.tobuf(tarfile.USTAR_FORMAT, errors="surrogateescape")


def inflate_stream(packed_value: Iterator[bytes], limit: int = MAX_SIZE) -> Iterator[bytes]:
    return gunzip(ChunkStream(packed_value), Bounds(packed_size=limit), is_required=True).pieces()


def read(stream: bytes, size: int = 700) -> dict[str, bytes | None]:
    """The files' contents by path, None for folders; all bytes have passed through."""
    passed_stream, collector = io.BytesIO(), Collector(Path("x.tar.gz"), archive=True, unique=True)
    packed_stream = ChunkStream(chunks(gzip_bytes(stream), size))
    contents = {
        path: None if member.is_folder else b"".join(member.content.pieces())
        for path, member in strict_members(packed_stream, collector, passed_stream.write)
    }
    assert passed_stream.getvalue() == stream
    assert {path: len(content) for path, content in contents.items() if content is not None} == dict(
        collector.files()
    )
    assert collector.contents().findings == ()
    return contents


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("prefix", ["", "./"])
def test_what_tar_programs_write_is_read(kind: int, prefix: str) -> None:
    files = {"embed/config.pbtxt": b"x" * 513, "embed/1/model.py": b"", "ü/1/w": b"y" * 512}
    if kind != tarfile.USTAR_FORMAT:
        files["/".join(["a" * 200] * 3)] = b"long"
    assert read(written_by_tarfile(files, kind, prefix=prefix)) == files


def test_the_root_itself_and_a_global_comment_are_passed_over() -> None:
    comment = extended_header(record("comment", "of a commit"), tarfile.XGLTYPE)
    assert read(comment + folder("./") + folder("./m/") + END) == {"m": None}


@pytest.mark.parametrize(
    ("stream", "problem"),
    [
        (file("/etc/passwd") + END, "'/etc/passwd' is an absolute path"),
        (file("a/../../b") + END, "leads out of its folder"),
        (file("a/./b") + END, "has an empty name"),
        (file("a//b") + END, "has an empty name"),
        (file("a/") + END, "has an empty name"),
        (file("./") + END, "has an empty name"),
        (file("a\\..\\b") + END, "contains a backslash"),
        (file("a\nb") + END, "control characters"),
        (extended_header(record("path", "x" * 256)) + file("x") + END, "255 bytes a name"),
        (extended_header(record("path", "x/" * 2048 + "x")) + file("x") + END, "4096 a path"),
        (extended_header(record("path", "../x")) + file("x") + END, "'../x' leads out"),
        (extended_header(record("path", "a\0b")) + file("x") + END, "control characters"),
        (extended_header(b"9 path=\xff\n" + b"") + file("x") + END, "not UTF-8"),
        (header("l", kind=tarfile.SYMTYPE, link="/etc") + END, "'l' is a symbolic link"),
        (header("l", kind=tarfile.LNKTYPE, link="x") + END, "'l' is a hard link"),
        (header("d", kind=tarfile.CHRTYPE) + END, "'d' is a device"),
        (header("d", kind=tarfile.BLKTYPE) + END, "'d' is a device"),
        (header("p", kind=tarfile.FIFOTYPE) + END, "'p' is a pipe"),
        (header("s", kind=tarfile.GNUTYPE_SPARSE) + END, "'s' is a sparse file"),
        (header("v", kind=b"V") + END, "neither a folder nor a file"),
        (extended_header(record("GNU.sparse.major", "1")) + file("s") + END, "'s' is a sparse file"),
        (
            extended_header(record("path", "x"), tarfile.XGLTYPE) + file("s") + END,
            "one 'path' to all entries",
        ),
        (extended_header(record("size", "-1")) + file("s") + END, "a size of '-1'"),
        (extended_header(record("size", "9" * 16)) + file("s") + END, "a size of"),
        (extended_header(record("size", "1e3")) + file("s") + END, "a size of '1e3'"),
        (extended_header(record("size", "1000000")) + file("s") + END, "cut off"),
        (extended_header(record("path", "a") * 2) + file("s") + END, "gives 'path' twice"),
        (extended_header(record("path", "a")) * 2 + file("s") + END, "names one entry twice"),
        (
            extended_header(record("mtime", "1")) + extended_header(record("path", "a")) + file("s") + END,
            "one entry twice",
        ),
        (
            extended_header(record("comment", "a") * 2, tarfile.XGLTYPE) + file("s") + END,
            "gives 'comment' twice",
        ),
        (extended_header(b"8 \xff=abc\n") + file("s") + END, "a name that is not UTF-8"),
        (of_a_user(b"\xff") + END, "a name that is not UTF-8"),
        (header("long", 2, tarfile.GNUTYPE_LONGLINK) + b"x".ljust(512, b"\0") + file("x") + END, "is a link"),
        (extended_header(record("path", "a")) + END, "ends after the name of an entry"),
        (extended_header(b"0 path=a\n") + file("s") + END, "pax header of its tar stream is damaged"),
        (extended_header(b"99 path=a\n") + file("s") + END, "pax header of its tar stream is damaged"),
        (header("pax", 1 << 30, tarfile.XHDTYPE), "a header of its tar stream has 1073741824 bytes"),
        (
            header("long", 1 << 30, tarfile.GNUTYPE_LONGNAME),
            "a header of its tar stream has 1073741824 bytes",
        ),
        (header("dir", 512, tarfile.DIRTYPE) + bytes(512) + END, "gives 'dir' a size of '512'"),
        (file("a") + file("a") + END, "'a' exists twice"),
        (file("a") + file("a/b") + END, "'a' exists twice"),
        (file("a/b") + file("a") + END, "'a' exists twice"),
        (folder("a") + folder("./a/") + END, "'a' exists twice"),
        (file("a") + END + file("b") + END, "continues after its end"),
        (file("a") + END + b"\1", "continues after its end"),
        (file("a", b"x" * 1000)[:-600], "cut off"),
        (file("a"), "cut off"),
        (b"", "cut off"),
        (b"no tar at all, but long enough for a block " * 20, "no tar stream, or a damaged one"),
        (file("a").replace(b"ustar", b"usta!") + END, "no tar stream, or a damaged one"),
    ],
)
def test_what_no_repository_needs_is_refused_by_name(stream: bytes, problem: str) -> None:
    with pytest.raises(UnreadableError) as refusal:
        read(stream)
    assert problem in str(refusal.value)


@given(st.binary(max_size=2000), st.integers(1, 3000))
def test_any_bytes_are_read_or_refused(noise: bytes, at: int) -> None:
    stream = bytearray(file("a/b", b"x" * 600) + extended_header(record("path", "ü")) + file("c") + END)
    stream[at : at + len(noise)] = noise
    try:
        read(bytes(stream))
    except UnreadableError as error:
        assert str(error)


def test_entries_and_sizes_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_fleet.repository.reading.paths.MAX_ENTRIES", 3)
    with pytest.raises(UnreadableError, match="more than 3 entries"):
        read(file("a/b/c/d") + END)
    with pytest.raises(UnreadableError, match="more than 1 TiB"):
        Paths().add("a", Entry(EntryKind.FILE, (1 << 40) + 1))


def test_folders_that_only_paths_name_are_counted_too() -> None:
    paths = Paths()
    with pytest.raises(UnreadableError, match="64 MiB of paths"):
        for number in range(100_000):
            paths.add(f"{number}/" + "d/" * 1000 + "f", Entry(EntryKind.FILE))
    assert len(paths.entries) < 100_000


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_gzip_is_undone_whatever_its_streams_and_chunks(size: int) -> None:
    content = gzip_bytes(b"a" * 3_000_000) + gzip_bytes(b"") + gzip_bytes(b"b") + bytes(100)
    assert b"".join(inflate_stream(chunks(content, size))) == b"a" * 3_000_000 + b"b"


def test_pieces_of_what_inflates_stay_small() -> None:
    content = gzip_bytes(bytes(50 << 20))
    assert max(map(len, inflate_stream(iter([content])))) <= 1 << 20


@pytest.mark.parametrize(
    ("packed_content", "problem"),
    [
        (b"", "not gzip"),
        (bytes(100), "not gzip"),
        (b"PK\3\4 a zip archive", "not gzip"),
        (zlib.compress(b"x" * 100), "not gzip"),
        (gzip_bytes(b"x" * 100)[:-1], "cut off"),
        (gzip_bytes(b"x" * 100)[:12], "cut off"),
        (gzip_bytes(b"x" * 100) + b"more that is none", "not gzip"),
        (gzip_bytes(b"x" * 100) + gzip_bytes(b"y")[:9], "cut off"),
        (gzip_bytes(b"x" * 100)[:-8] + bytes(8), "damaged"),
        (gzip_bytes(b"x" * 100)[:-1] + b"\1", "damaged"),
    ],
)
def test_what_is_not_whole_is_refused(packed_content: bytes, problem: str) -> None:
    with pytest.raises(UnreadableError, match=problem):
        list(inflate_stream(chunks(packed_content, 5)))


def test_a_bomb_is_stopped_while_it_inflates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_fleet.repository.reading.gunzip.MAX_SIZE", 5 << 20)
    read_bytes = 0
    with pytest.raises(UnreadableError, match="unpacks to more than"):
        for piece in inflate_stream(iter([gzip_bytes(bytes(20 << 20))])):
            read_bytes += len(piece)
    assert read_bytes <= 5 << 20
