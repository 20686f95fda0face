"""An archive is read as one stream; what is wrong with it is told, and the rest is judged."""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.support.hostile_tar import END, extended_header, file, folder, header, record, written_by_tarfile
from tests.support.repository_archives import archive, gzip_bytes, tar_of
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.repository.contents import Contents, Entry, EntryKind
from triton_fleet.repository.reading.folder import read

FILES = {
    "m/config.pbtxt": b'backend: "python"',
    "m/configs/other.pbtxt": b"",
    "m/1/model.py": b"code",
    "m/1/deep/helper.py": b"not kept",
    "m/1/weights.bin": b"w" * 1000,
    "m/1/model.plan": b"p" * 100,
    "m/2/": b"",
    "m/.hidden/x": b"",
    "m/__pycache__/x.pyc": b"",
}


def read_bytes(tmp_path: Path, content: bytes, name: str = "model.tar.gz") -> Contents:
    written_folder = tmp_path / name
    written_folder.write_bytes(content)
    return read(written_folder)


def finding_messages(contents: Contents) -> list[str]:
    return [f"{finding.severity} {finding.code}: {finding.message}" for finding in contents.findings]


def test_all_entries_are_known_with_the_folders_around_them(tmp_path: Path) -> None:
    contents = read(archive(tmp_path, FILES))
    assert contents.archive
    assert contents.findings == ()
    assert contents.folders() == ["m"]
    assert contents.folders("m") == [".hidden", "1", "2", "__pycache__", "configs"]
    assert contents.below("m/1")["weights.bin"] == Entry(EntryKind.FILE, 1000)
    assert contents.below("m/2") == {}
    assert list(contents.entries) == sorted(contents.entries)
    assert contents.is_file("m/1/model.py")
    assert not contents.is_file("m/1")


def test_texts_are_kept_and_of_a_plan_its_first_bytes(tmp_path: Path) -> None:
    assert read(archive(tmp_path, FILES)).texts == {
        "m/config.pbtxt": b'backend: "python"',
        "m/configs/other.pbtxt": b"",
        "m/1/model.py": b"code",
        "m/1/model.plan": b"p" * 28,
    }


def test_a_model_at_the_root_has_its_texts_too(tmp_path: Path) -> None:
    files = {"config.pbtxt": b"c", "1/model.py": b"m", "setup.py": b"", "docs/conf.py": b""}
    assert read(archive(tmp_path, files)).texts == {"config.pbtxt": b"c", "1/model.py": b"m"}


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("prefix", ["", "./"])
def test_what_tar_programs_write_is_read(tmp_path: Path, kind: int, prefix: str) -> None:
    files = {"embed/config.pbtxt": b"x" * 513, "embed/1/model.py": b"", "ü/1/w": b"y" * 512}
    if kind != tarfile.USTAR_FORMAT:
        files["/".join(["a" * 200] * 3)] = b"long"
    contents = read_bytes(tmp_path, gzip_bytes(written_by_tarfile(files, kind, prefix=prefix)))
    assert contents.findings == ()
    sizes = {path: entry.size for path, entry in contents.entries.items() if entry.kind is EntryKind.FILE}
    assert sizes == {path: len(content) for path, content in files.items()}


def test_a_tar_file_without_gzip_is_read_and_told(tmp_path: Path) -> None:
    contents = read_bytes(tmp_path, tar_of(FILES), "model.tar")
    assert contents.is_file("m/1/model.py")
    assert finding_messages(contents) == [
        "warning FL440: the archive is not compressed with gzip, which SageMaker requires"
    ]


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (file("/etc/passwd"), "error FL441: '/etc/passwd' is an absolute path"),
        (file("a/../../b"), "error FL441: 'a/../../b' leads out of its folder"),
        (extended_header(record("path", "../x")) + file("x"), "error FL441: '../x' leads out of its folder"),
        (
            file("a\\b"),
            "error FL441: 'a\\\\b' contains a backslash, which does not separate folders on Linux",
        ),
        (extended_header(record("path", "x" * 256)) + file("x"), "is longer than Linux allows"),
        (extended_header(record("path", "x/" * 2048 + "x")) + file("x"), "is longer than Linux allows"),
        (file("a\nb"), "error FL414: 'a\\nb' contains control characters or is not UTF-8"),
        (extended_header(b"9 path=\xff\n") + file("x"), "error FL414"),
        (header("l", kind=tarfile.SYMTYPE, link="/etc"), "error FL403: 'l' is a symbolic link; only"),
        (header("l", kind=tarfile.LNKTYPE, link="x"), "error FL403: 'l' is a hard link; only"),
        (header("d", kind=tarfile.CHRTYPE), "error FL403: 'd' is a device"),
        (header("p", kind=tarfile.FIFOTYPE), "error FL403: 'p' is a pipe"),
        (header("s", kind=tarfile.GNUTYPE_SPARSE), "error FL403: 's' is a sparse file"),
        (header("v", kind=b"V"), "error FL403: 'v' is neither a folder nor a file"),
        (extended_header(record("GNU.sparse.name", "s")) + file("x"), "error FL403: 's' is a sparse file"),
        (file("a") + file("a"), "warning FL442: 'a' is in the archive twice"),
        (file("a") + file("a/b"), "error FL442: 'a' is in the archive as a folder and as something else"),
        (file("a/b") + file("a"), "error FL442: 'a' is in the archive as a folder and as something else"),
        (header("a", kind=tarfile.SYMTYPE) + file("a/b"), "error FL442: 'a' is in the archive as a folder"),
    ],
)
def test_an_entry_that_is_not_trusted_is_told_and_the_rest_is_read(
    tmp_path: Path, stream: bytes, message: str
) -> None:
    contents = read_bytes(tmp_path, gzip_bytes(stream + file("m/1/model.py") + END))
    assert any(message in line for line in finding_messages(contents)), finding_messages(contents)
    assert contents.is_file("m/1/model.py")


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (extended_header(record("path", "x"), tarfile.XGLTYPE) + file("s"), "one 'path' to all entries"),
        (extended_header(record("size", "-1")) + file("s"), "a size of '-1'"),
        (extended_header(record("size", "9" * 16)) + file("s"), "a size of"),
        (extended_header(record("size", "1000000")) + file("s"), "its tar stream is cut off"),
        (header("d", 512, tarfile.DIRTYPE) + bytes(512), "a size of '512'"),
        (header("l", 512, tarfile.LNKTYPE) + bytes(512), "a size of '512'"),
        (extended_header(b"0 path=a\n") + file("s"), "a pax header of its tar stream is damaged"),
        (header("pax", 1 << 30, tarfile.XHDTYPE), "a header of its tar stream has 1073741824 bytes"),
        (header("long", 1 << 30, tarfile.GNUTYPE_LONGNAME), "has 1073741824 bytes"),
        (extended_header(record("comment", "x")) * 11 + file("s"), "more than 10 headers for one entry"),
        (file("a").replace(b"ustar", b"usta!"), "or a damaged one: bad checksum"),
        (file("a", b"x" * 1000)[:-600], "its tar stream is cut off"),
    ],
)
def test_a_damaged_stream_is_judged_as_far_as_it_goes(tmp_path: Path, stream: bytes, message: str) -> None:
    contents = read_bytes(tmp_path, gzip_bytes(file("m/1/model.py") + stream))
    assert [message in line for line in finding_messages(contents)] == [True], finding_messages(contents)
    assert contents.findings[0].code == "FL440"
    assert contents.findings[0].severity is Severity.ERROR
    assert contents.is_file("m/1/model.py")


def test_an_archive_that_is_cut_off_is_judged_as_far_as_it_goes(tmp_path: Path) -> None:
    content = gzip_bytes(tar_of(FILES | {"z": bytes(range(256)) * 9000}))
    contents = read_bytes(tmp_path, content[:-9000])
    assert "is cut off: the end of its gzip stream is missing" in finding_messages(contents)[0]
    assert contents.is_file("m/1/model.py")


@pytest.mark.parametrize(
    ("after", "severity", "message"),
    [
        (b"garbage", "warning", "the data after the end of the archive is damaged: it is not gzip"),
        (gzip_bytes(file("b") + END), "warning", "has data after its end, which is ignored"),
        (gzip_bytes(b"")[:-3], "error", "cannot be read to its end: it is cut off"),
    ],
)
def test_what_follows_the_end_is_told(tmp_path: Path, after: bytes, severity: str, message: str) -> None:
    contents = read_bytes(tmp_path, gzip_bytes(tar_of(FILES)) + after)
    assert len(contents.findings) == 1
    assert contents.findings[0].severity == severity
    assert message in contents.findings[0].message
    assert contents.is_file("m/1/model.py")


def test_gzip_streams_in_a_row_are_one_and_zeros_may_follow(tmp_path: Path) -> None:
    tar = tar_of(FILES | {"m/1/zeros": bytes(3 << 20)})
    content = gzip_bytes(tar[:1000]) + gzip_bytes(b"") + gzip_bytes(tar[1000:]) + bytes(100)
    contents = read_bytes(tmp_path, content)
    assert contents.findings == ()
    assert contents.entries["m/1/zeros"].size == 3 << 20


def test_the_later_of_two_files_counts(tmp_path: Path) -> None:
    twice_file = file("m/config.pbtxt", b"old") + file("m/config.pbtxt", b"newer")
    contents = read_bytes(tmp_path, gzip_bytes(twice_file + END))
    assert contents.texts == {"m/config.pbtxt": b"newer"}
    assert contents.entries["m/config.pbtxt"].size == 5


def test_the_root_and_a_folder_named_again_are_nothing_to_tell(tmp_path: Path) -> None:
    stream = folder("./") + folder("./m/") + file("m//1/./x") + folder("m") + END
    contents = read_bytes(tmp_path, gzip_bytes(stream))
    assert (contents.findings, list(contents.entries)) == ((), ["m", "m/1", "m/1/x"])


def test_of_many_links_a_few_are_told_and_how_many_more(tmp_path: Path) -> None:
    links = b"".join(header(f"l{number}", kind=tarfile.SYMTYPE) for number in range(25))
    contents = read_bytes(tmp_path, gzip_bytes(links + END))
    assert len(contents.findings) == 11
    assert "error FL403: 15 more of these were found" in finding_messages(contents)
    assert {entry.kind for entry in contents.entries.values()} == {EntryKind.LINK}


def zip_file() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("m/config.pbtxt", "")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zip_file(), "it is a zip archive"),
        (bz2.compress(tar_of(FILES)), "it is compressed with bzip2"),
        (lzma.compress(tar_of(FILES)), "it is compressed with xz"),
        (b"", "it is empty"),
        (gzip_bytes(b""), "it is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "run `git lfs pull`"),
        (b"short", "it holds no tar stream"),
        (b"no tar at all, but long enough for a block " * 20, "it holds no tar stream, or a damaged one"),
        (b"\x1f\x8b" + b"no gzip" * 10, "its gzip stream is damaged"),
        (b"\x1f\x8b", "the end of its gzip stream is missing"),
    ],
)
def test_what_is_no_archive_of_this_kind_is_refused_by_name(
    tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(FindingsError, match="FL440") as refusal:
        read_bytes(tmp_path, content)
    assert message in str(refusal.value)
    assert "model.tar.gz" in str(refusal.value)


def test_nothing_at_a_path_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match="FL401"):
        read(tmp_path / "absent.tar.gz")
    with pytest.raises(FindingsError, match="FL440"):
        read(Path("/dev/null"))
