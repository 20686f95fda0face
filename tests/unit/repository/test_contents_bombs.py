"""Reading any archive ends, in little memory and without a traceback."""

from __future__ import annotations

import tracemalloc
from collections import UserDict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.hostile_tar import END, extended_header, file, folder, header, record
from tests.support.repository_archives import archive, folder_of, gzip_bytes, tar_of
from triton_fleet.findings import FindingsError
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.repository.reading.folder import read

LIMITS = "triton_fleet.repository.reading.gunzip"
MODEL = {"m/config.pbtxt": b"c", "m/1/model.py": b""}
FILES = {"config.pbtxt": b'backend: "python"', "1/model.py": b"class TritonPythonModel: pass\n"}
ZEROS = bytes(30 << 20)


def finding_messages(contents: Contents) -> list[str]:
    return [f"{finding.code}: {finding.message}" for finding in contents.findings]


def test_a_bomb_is_read_up_to_a_ratio_and_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{LIMITS}.FREE", 10 << 20)
    bomb = archive(tmp_path, {**MODEL, "m/1/zeros": ZEROS, "m/2/after": b""})
    tracemalloc.start()
    contents = read(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert finding_messages(contents) == [
        "FL443: the rest of the archive is not checked: it unpacks to more than 100 times its size"
    ]
    assert contents.is_file("m/1/model.py")
    assert peak < 6 << 20


def test_an_archive_of_zeros_that_is_not_too_large_is_read(tmp_path: Path) -> None:
    contents = read(archive(tmp_path, {**MODEL, "m/1/zeros": ZEROS}))
    assert contents.findings == ()
    assert contents.entries["m/1/zeros"].size == len(ZEROS)


def test_bombs_within_an_archive_count_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{LIMITS}.FREE", 70 << 20)
    inner = gzip_bytes(tar_of({"zeros": ZEROS}))
    path = archive(tmp_path, {**MODEL, **{f"m/{number}.tgz": inner for number in range(9)}})
    contents = read(path)
    assert [finding.code for finding in contents.findings] == ["FL443"]
    assert 1 < len(contents.environments) < 9


def test_entries_count_also_where_they_are_of_one_name_or_within_another_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{LIMITS}.MAX_ENTRIES", 20)
    same = tmp_path / "same.tar.gz"
    same.write_bytes(gzip_bytes(file("a") * 30 + END))
    assert "it holds more than 20 entries" in finding_messages(read(same))[1]
    inner = tar_of({str(number): b"" for number in range(9)})
    path = archive(tmp_path, {**MODEL, "m/a.tar": inner, "m/b.tar": inner, "m/c.tar": inner})
    assert [finding.code for finding in read(path).findings] == ["FL443"]


def test_folders_that_only_paths_name_count_as_well(tmp_path: Path) -> None:
    names = b"".join(
        extended_header(record("path", f"{number}/" + "d/" * 1000 + "f")) + file("x") for number in range(100)
    )
    deep = tmp_path / "deep.tar.gz"
    deep.write_bytes(gzip_bytes(file("m/1/model.py") + names + END))
    contents = read(deep)
    assert "it holds more than 1000000 entries or 64 MiB of paths" in finding_messages(contents)[0]
    assert contents.is_file("m/1/model.py")


def parts() -> list[bytes]:
    inner = gzip_bytes(tar_of({"bin/activate": b"", "bin/python3.10": b""}))
    return [
        folder("./"),
        folder("m"),
        file("m/config.pbtxt", b'name: "m"'),
        file("m/1/model.onnx", b"\x08\x09\x3a\x06\x5a\x04\x0a\x02in"),
        file("m/env.tar.gz", inner),
        header("m/link", kind=b"2", link="/etc"),
        header("m/sparse", kind=b"S"),
        extended_header(record("path", "m/ü") + record("size", "3")) + file("x", b"abc"),
        header("././@LongLink", 5, b"L") + b"m/l\0x".ljust(512, b"\0") + file("x"),
        END,
    ]


@settings(deadline=None, max_examples=400, derandomize=True, database=None)
@given(
    order=st.lists(st.sampled_from(parts()), max_size=8),
    noise=st.lists(st.tuples(st.integers(0, 6000), st.binary(max_size=8)), max_size=4),
    cut=st.integers(0, 6000),
    is_zipped=st.booleans(),
    is_noise_outside=st.booleans(),
)
def test_any_archive_is_read_or_refused_with_findings(
    order: list[bytes],
    noise: list[tuple[int, bytes]],
    cut: int,
    is_zipped: bool,
    is_noise_outside: bool,
) -> None:
    content = b"".join([*order, *parts()])
    content = gzip_bytes(content) if is_zipped and is_noise_outside else content
    changed_value = bytearray(content)
    for at, data in noise:
        changed_value[at : at + len(data)] = data
    content = bytes(changed_value[: len(changed_value) - cut] if cut < 1000 else changed_value)
    content = gzip_bytes(content) if is_zipped and not is_noise_outside else content
    with TemporaryDirectory() as folder_:
        written_path = Path(folder_) / "model.tar.gz"
        written_path.write_bytes(content)
        try:
            contents = read(written_path)
        except FindingsError as error:
            assert error.findings
            assert all(finding.file == written_path for finding in error.findings)
        else:
            assert all(str(finding) for finding in contents.findings)
            above = {path.rpartition("/")[0] for path in contents.entries} - {""}
            assert above <= {path for path, entry in contents.entries.items() if entry.kind == "folder"}
            assert not any(".." in path.split("/") or path.startswith("/") for path in contents.entries)


@pytest.mark.parametrize("below", ["", "m/"])
def test_more_folders_than_any_repository_has_end_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, below: str
) -> None:
    monkeypatch.setattr("triton_fleet.repository.reading.paths.MAX_AT_ROOT", 30)
    monkeypatch.setattr("triton_fleet.repository.reading.paths.MAX_FOLDERS", 60)
    many = tmp_path / "many.tar.gz"
    many.write_bytes(
        gzip_bytes(tar_of(MODEL)[:-10240] + b"".join(folder(f"{below}d{n}") for n in range(90)) + END)
    )
    contents = read(many)
    assert finding_messages(contents) == [
        "FL443: the rest of the archive is not checked: it holds more than 60 folders, or 30 at its root"
    ]
    assert len(contents.entries) <= 64


class Texts(UserDict[str, bytes]):
    """Counts how often all of them are looked through."""

    passes = 0

    def __iter__(self) -> Iterator[str]:
        self.passes += 1
        return super().__iter__()


def test_the_texts_of_a_repository_are_not_looked_through_for_each_model(tmp_path: Path) -> None:
    passes = []
    for models in (3, 30):
        files = {f"m{n}/{file}": content for n in range(models) for file, content in FILES.items()}
        contents = read(folder_of(tmp_path / str(models), files))
        texts = Texts(contents.texts)
        plan_load(replace(contents, texts=texts), ServingContainer(multi_model=True, release="25.04"))
        passes.append(texts.passes)
    assert passes[0] == passes[1]
