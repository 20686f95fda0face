"""Unpacking an archive, whatever it holds, writes files and folders below one folder, or nothing."""

from __future__ import annotations

import io
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile, ZipInfo

import pytest

from fleet_emulator.codebuild.run import SourceError, unpack_source
from fleet_emulator.function_output import DeployedCode
from fleet_emulator.hosting import HostingError
from tests.support.embedded_s3 import BUCKET
from tests.support.hostile_tar import END, escape_by_links, extended_header, file, folder, header, record
from tests.support.repository_archives import gzip_bytes
from triton_fleet.findings import FindingsError
from triton_fleet.local.containers import LackOfMemory, Refusal
from triton_fleet.local.model_data import fetch_model_data, fetch_model_files
from triton_fleet.local.multi_model.disk import ModelDisk
from triton_fleet.local.try_load import load_in_triton
from triton_fleet.repository.reading.archive import strict_members
from triton_fleet.repository.reading.collector import Collector
from triton_fleet.repository.reading.folder import read
from triton_fleet.repository.stream import ChunkStream, UnreadableError
from triton_fleet.repository.unpacking import (
    TooLargeError,
    UnpackingBudget,
    UnpackingError,
    unpack_tar,
    unpack_zip,
)
from triton_fleet.spec.endpoint import Mode

MODEL = file("m/config.pbtxt", b'backend: "python"') + file("m/1/model.py", b"")
ESCAPED_FILE = "escaped.txt"
UNPACK_BUDGET = UnpackingBudget(size=1 << 30, entries=1000, what="what this test allows")


def unpack(content: bytes, work: Path, budget: UnpackingBudget = UNPACK_BUDGET) -> Path:
    archive = work / "model.tar.gz"
    archive.write_bytes(content)
    unpack_tar(archive, work / "model", budget)
    return work / "model"


def everything_below(folder_: Path) -> list[str]:
    return sorted(path.relative_to(folder_).as_posix() for path in folder_.rglob("*"))


def by_unpacking(work: Path, content: bytes, s3: Any) -> str:
    with pytest.raises(UnpackingError) as refusal:
        unpack(content, work)
    return str(refusal.value)


def by_single_model(work: Path, content: bytes, s3: Any) -> str:
    s3.put_object(Bucket=BUCKET, Key="model.tar.gz", Body=content)
    with pytest.raises(HostingError) as refusal:
        fetch_model_data(s3, f"s3://{BUCKET}/model.tar.gz", work)
    return str(refusal.value)


def by_multi_model(work: Path, content: bytes, s3: Any) -> str:
    s3.put_object(Bucket=BUCKET, Key="live/model.tar.gz", Body=content)
    disk = ModelDisk(work, s3, f"s3://{BUCKET}/live/", limit=lambda: None, record=lambda *_: None)
    with pytest.raises(Refusal) as refusal:
        disk.fetch("model.tar.gz", SimpleNamespace())
    return str(refusal.value)


def by_last_word(work: Path, content: bytes, s3: Any) -> str:
    archive = work / "model.tar.gz"
    archive.write_bytes(content)
    runtime: Any = SimpleNamespace(release="24.10", image_release="24.10")  # it is not reached
    return load_in_triton(archive, runtime, mode=Mode.SINGLE).reason


def by_check(work: Path, content: bytes, s3: Any) -> str:
    archive = work / "model.tar.gz"
    archive.write_bytes(content)
    return "\n".join(finding.message for finding in read(archive).findings)


PLACES = [by_unpacking, by_single_model, by_multi_model, by_last_word, by_check]


@pytest.mark.parametrize("place", PLACES)
def test_an_archive_that_leaves_its_folder_by_links_is_refused_wherever_it_is_read(
    place: Callable[[Path, bytes, Any], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: Any
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(work))
    reason = place(work, gzip_bytes(MODEL + escape_by_links(ESCAPED_FILE, b"x")), s3)
    assert "is a symbolic link" in reason
    assert set(everything_below(tmp_path)) <= {"work", "work/model.tar.gz"}


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (header("m/l", kind=tarfile.SYMTYPE, link="1/model.py"), "'m/l' is a symbolic link"),
        (header("m/l", kind=tarfile.LNKTYPE, link="m/1/model.py"), "'m/l' is a hard link"),
        (header("m/d", kind=tarfile.CHRTYPE), "'m/d' is a device"),
        (header("m/d", kind=tarfile.BLKTYPE), "'m/d' is a device"),
        (header("m/p", kind=tarfile.FIFOTYPE), "'m/p' is a pipe"),
        (header("m/s", kind=tarfile.GNUTYPE_SPARSE), "'m/s' is a sparse file"),
        (file("/etc/passwd"), "'/etc/passwd' is an absolute path"),
        (file("m/../../outside"), "'m/../../outside' leads out of its folder"),
        (extended_header(record("path", "../x")) + file("x"), "'../x' leads out of its folder"),
        (file("m\\x"), "contains a backslash"),
        (file("m/a\x1bb"), "contains control characters"),
        (file("m"), "'m' is in the archive as a folder and as something else"),
        (file("m/1/model.py/x"), "'m/1/model.py' is in the archive as a folder and as something else"),
        (file("m/x", b"cut")[:-1], "cut off"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_what_is_no_plain_file_in_its_folder_is_refused_before_anything_is_written(
    tmp_path: Path, member: bytes, reason: str, first: bool
) -> None:
    content = member + MODEL if first and "cut" not in reason else MODEL + member
    with pytest.raises(UnpackingError) as refusal:
        unpack(gzip_bytes(content + (END if "cut" not in reason else b"")), tmp_path)
    assert reason in str(refusal.value) or (first and "as something else" in str(refusal.value))
    assert everything_below(tmp_path) == ["model.tar.gz"]


def test_folders_and_files_are_unpacked_with_their_contents_and_whether_they_run(tmp_path: Path) -> None:
    program = tarfile.TarInfo("./m/bin/program")
    program.size, program.mode = 2, 0o4777
    content = program.tobuf(tarfile.USTAR_FORMAT) + b"#!".ljust(512, b"\0")
    model = unpack(gzip_bytes(folder("./") + MODEL + folder("m/2") + content + END), tmp_path)
    assert everything_below(model) == [
        *("m", "m/1", "m/1/model.py", "m/2", "m/bin", "m/bin/program", "m/config.pbtxt"),
    ]
    assert (model / "m/config.pbtxt").read_bytes() == b'backend: "python"'
    assert stat.S_IMODE((model / "m/bin/program").stat().st_mode) & 0o7111 == 0o111
    assert not (model / "m/1/model.py").stat().st_mode & 0o111


def test_the_later_of_two_files_of_one_name_is_unpacked_over_the_earlier(tmp_path: Path) -> None:
    model = unpack(gzip_bytes(file("a", b"longer") + file("a", b"new") + END), tmp_path)
    assert (model / "a").read_bytes() == b"new"


def test_bytes_and_entries_past_the_budget_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    small = UnpackingBudget(size=99, entries=3, what="what this test allows")
    with pytest.raises(TooLargeError, match=r"takes at least 100 B, more than 99 B: what this test allows"):
        unpack(gzip_bytes(file("a", bytes(50)) + file("b", bytes(50)) + END), tmp_path, small)
    for entries in (folder("a") + folder("b") + folder("c") + folder("d"), file("a/b/c/d"), file("a") * 4):
        with pytest.raises(TooLargeError, match="more than 3 entries: what this test allows"):
            unpack(gzip_bytes(entries + END), tmp_path, small)
    assert everything_below(tmp_path) == ["model.tar.gz"]


def test_paths_that_only_this_machines_folders_make_too_long_are_refused_and_named(
    tmp_path: Path, s3: Any
) -> None:
    deep = "/".join(["d" * 250] * 16)
    content = gzip_bytes(MODEL + extended_header(record("path", f"{deep}/{'e' * 70}")) + file("x") + END)
    assert "File name too long" in by_single_model(tmp_path, content, s3)


def test_a_single_models_download_has_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: Any
) -> None:
    monkeypatch.setattr("triton_fleet.repository.unpacking.free", lambda folder_: 2000)
    s3.put_object(Bucket=BUCKET, Key="large.tar.gz", Body=gzip_bytes(file("zeros", bytes(5000)) + END))
    for key, work in (("large.tar.gz", tmp_path / "a"), ("packed.tar.gz", tmp_path / "b")):
        s3.put_object(Bucket=BUCKET, Key="packed.tar.gz", Body=bytes(5000))
        work.mkdir()
        with pytest.raises(HostingError, match="more than 1000 B: half of what is free on this disk"):
            fetch_model_data(s3, f"s3://{BUCKET}/{key}", work)
        assert everything_below(work) == []
    s3.put_object(Bucket=BUCKET, Key="files/weights", Body=bytes(5000))
    with pytest.raises(HostingError, match="more than 1000 B: half of what is free on this disk"):
        fetch_model_files(s3, f"s3://{BUCKET}/files/", tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_an_archive_of_a_multi_model_endpoint_is_not_downloaded_past_its_disk(
    tmp_path: Path, s3: Any
) -> None:
    s3.put_object(Bucket=BUCKET, Key="live/packed.tar.gz", Body=bytes(5000))
    disk = ModelDisk(tmp_path, s3, f"s3://{BUCKET}/live/", limit=lambda: 1000, record=lambda *_: None)
    with pytest.raises(
        LackOfMemory, match="packed.tar.gz takes at least 4.9 KiB of disk; `local.model_disk`"
    ):
        disk.fetch("packed.tar.gz", SimpleNamespace())
    assert everything_below(tmp_path) == []


def zip_of(name: str, kind: int = 0, content: bytes = b"x") -> bytes:
    written_stream = io.BytesIO()
    with ZipFile(written_stream, "w") as archive:
        archive.writestr("first.py", "x = 1\n")
        entry = ZipInfo(name)
        entry.external_attr = (kind | 0o644) << 16
        archive.writestr(entry, content)
    return written_stream.getvalue()


ZIPS = [
    ("link", stat.S_IFLNK, "'link' is a symbolic link"),
    ("device", stat.S_IFCHR, "'device' is neither a folder nor a file"),
    ("../outside", 0, "'../outside' leads out of its folder"),
    ("/outside", 0, "'/outside' is an absolute path"),
    ("a\\..\\..\\outside", 0, "contains a backslash"),
]


@pytest.mark.parametrize(("name", "kind", "reason"), ZIPS)
def test_a_builds_source_and_a_functions_code_are_unpacked_as_strictly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, s3: Any, name: str, kind: int, reason: str
) -> None:
    content = zip_of(name, kind)
    s3.put_object(Bucket=BUCKET, Key="source.zip", Body=content)
    source = {"type": "S3", "location": f"{BUCKET}/source.zip"}
    with pytest.raises(SourceError) as refusal:
        unpack_source(source, tmp_path / "source", s3)
    assert reason in str(refusal.value)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = DeployedCode()
    with pytest.raises(UnpackingError):
        code.module(content, "first")
    code.close()
    assert everything_below(tmp_path) == []


def test_a_zip_file_past_the_budget_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    small = UnpackingBudget(size=10, entries=2, what="what this test allows")
    with pytest.raises(TooLargeError, match="takes at least 106 B, more than 10 B"):
        unpack_zip(io.BytesIO(zip_of("a", content=bytes(100))), tmp_path / "out", small)
    with pytest.raises(TooLargeError, match="more than 2 entries"):
        unpack_zip(io.BytesIO(zip_of("a/b/c")), tmp_path / "out", small)
    assert everything_below(tmp_path) == []


def test_an_archive_in_s3_that_leaves_its_folder_by_links_is_not_packed() -> None:
    stream = ChunkStream(iter([gzip_bytes(escape_by_links(ESCAPED_FILE, b"x"))]))
    collector = Collector(Path("model.tar.gz"), archive=True, unique=True)
    with pytest.raises(UnreadableError, match="is a symbolic link"):
        list(strict_members(stream, collector, lambda _: None))


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    for content, reason in (
        (b"", "is not gzip"),
        (b"no archive", "is not gzip"),
        (gzip_bytes(b"x"), "no tar"),
    ):
        with pytest.raises(UnpackingError, match=reason):
            unpack(content, tmp_path)
    with pytest.raises(FindingsError):
        read(tmp_path / "model.tar.gz")
