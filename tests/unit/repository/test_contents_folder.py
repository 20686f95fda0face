"""A folder is read as it lies there, links unfollowed and weights unread."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.repository_archives import archive, folder_of, gzip_bytes, tar_of
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.repository.contents import Entry, EntryKind
from triton_fleet.repository.reading.folder import read

FILES = {
    "m/config.pbtxt": b'parameters { key: "EXECUTION_ENV_PATH" }',
    "m/env.tar.gz": gzip_bytes(tar_of({"bin/activate": b"", "lib/python3.10/os.py": b""})),
    "m/1/model.py": b"code",
    "m/1/model.plan": b"p" * 100,
    "m/1/broken.onnx": b"no protobuf",
    "m/2/": b"",
    ".git/HEAD": b"",
    "m/__pycache__/x.pyc": b"",
}


def test_a_folder_holds_what_its_archive_holds(tmp_path: Path) -> None:
    contents = read(folder_of(tmp_path / "repository", FILES))
    packed_contents = read(archive(tmp_path, FILES))
    assert contents.entries == packed_contents.entries
    assert list(contents.entries) == sorted(contents.entries)
    assert contents.texts == packed_contents.texts
    assert contents.headers == packed_contents.headers
    assert contents.environments == packed_contents.environments
    assert (contents.findings, packed_contents.findings) == ((), ())
    assert (contents.archive, packed_contents.archive) == (False, True)


def test_packed_environments_are_not_read_if_no_config_names_any(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"m/env.tar.gz": FILES["m/env.tar.gz"], "m/config.pbtxt": b""})
    assert read(folder).environments == {}


def test_links_and_pipes_are_entries_and_told_unless_they_are_left_out(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"m/1/": b"", ".git/": b"", "m/__pycache__/": b""})
    (folder / "m/1/model.onnx").symlink_to("/etc/passwd")
    (folder / "m/9").symlink_to(folder)
    (folder / ".git/link").symlink_to("/etc")
    (folder / "m/__pycache__/link").symlink_to("/etc")
    os.mkfifo(folder / "m/1/pipe")
    contents = read(folder)
    assert contents.entries["m/1/model.onnx"] == Entry(EntryKind.LINK)
    assert contents.entries["m/1/pipe"] == Entry(EntryKind.SPECIAL)
    assert contents.entries[".git/link"] == Entry(EntryKind.LINK)
    assert not any(path.startswith("m/9/") for path in contents.entries)
    rows = [(finding.code, finding.file) for finding in contents.findings]
    assert rows == [("FL403", folder / path) for path in ("m/1/model.onnx", "m/1/pipe", "m/9")]


def test_names_that_are_no_text_are_told_and_left_out(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"m\xff")).mkdir()
    (tmp_path / "a\nb").touch()
    contents = read(tmp_path)
    assert contents.entries == {}
    assert [finding.code for finding in contents.findings] == ["FL414", "FL414"]


def test_a_folder_that_may_not_be_listed_is_told_and_the_rest_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path, {"m/1/x": b"", "m/config.pbtxt": b"c"})
    entries = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if path == str(folder / "m/1"):
            raise PermissionError(13, "Permission denied")
        return entries(path)

    monkeypatch.setattr(os, "scandir", refuse)
    contents = read(folder)
    (finding,) = contents.findings
    assert (finding.code, finding.file) == ("FL406", folder / "m/1")
    assert sorted(contents.entries) == ["m", "m/1", "m/config.pbtxt"]


def test_a_file_that_fails_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, {"m/config.pbtxt": b"c", "m/1/model.py": b""})
    file = Path.open

    def raise_absence(self: Path, *args: object, **options: object) -> object:
        if self.name == "config.pbtxt":
            raise PermissionError(13, "Permission denied")
        return file(self, *args, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", raise_absence)
    contents = read(folder)
    (finding,) = contents.findings
    assert (finding.code, finding.message) == ("FL406", "the file cannot be read: Permission denied")
    assert list(contents.texts) == ["m/1/model.py"]


def test_texts_have_a_ceiling_each_and_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_fleet.repository.reading.file_store.MAX_BYTES", 100)
    monkeypatch.setattr("triton_fleet.repository.reading.file_store.MAX_TEXTS", 250)
    files = {f"m{number}/config.pbtxt": b"x" * 100 for number in range(3)}
    contents = read(folder_of(tmp_path, {**files, "m/1/model.py": b"x" * 101, "m/1/b.py": b"x" * 100}))
    assert sorted(contents.texts) == ["m/1/b.py", "m0/config.pbtxt", "m1/config.pbtxt"]
    rows = [(finding.code, finding.severity, finding.message[:16]) for finding in contents.findings]
    assert rows == [
        ("FL444", Severity.WARNING, "'m/1/model.py' h"),
        ("FL444", Severity.WARNING, "'m2/config.pbtxt"),
    ]


def test_entries_have_a_ceiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("triton_fleet.repository.reading.paths.MAX_ENTRIES", 5)
    contents = read(folder_of(tmp_path, {f"m/{number}": b"" for number in range(9)}))
    assert len(contents.entries) == 5
    assert [finding.code for finding in contents.findings] == ["FL443"]


def test_a_repository_that_may_not_be_listed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(FindingsError, match="FL406: the folder cannot be read: Permission denied"):
        read(tmp_path)
