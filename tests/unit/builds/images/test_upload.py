"""A context is uploaded as a tar stream of the same bytes on each machine, and its digest follows from its content."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from tests.support.image_builds import START, image_folder
from triton_fleet.builds.images.artifacts import context_digest, write_context
from triton_fleet.builds.images.context import read_context
from triton_fleet.findings import FindingsError

FILES = {
    "b/run.sh": "#!/bin/sh\n",
    "a.txt": "x" * 600,
    "b/c/d.py": "",
    ".dockerignore": "*.md\n",
    "e.md": "e",
}


def folder(path: Path) -> Path:
    image_folder(path, START, FILES)
    (path / "b/run.sh").chmod(0o775)
    (path / "b/link").symlink_to("../a.txt")
    return path


def stream(path: Path) -> bytes:
    sink = io.BytesIO()
    write_context(read_context(path), sink)
    return sink.getvalue()


def test_the_archive_holds_folders_files_and_links_with_fixed_modes(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(stream(folder(tmp_path)))) as archive:
        members = archive.getmembers()
        content = archive.extractfile("a.txt")
        assert content is not None
        assert content.read() == b"x" * 600
    assert [(member.name, member.type, oct(member.mode), member.linkname) for member in members] == [
        ("b", tarfile.DIRTYPE, "0o755", ""),
        ("b/c", tarfile.DIRTYPE, "0o755", ""),
        (".dockerignore", tarfile.REGTYPE, "0o644", ""),
        ("Dockerfile", tarfile.REGTYPE, "0o644", ""),
        ("a.txt", tarfile.REGTYPE, "0o644", ""),
        ("b/c/d.py", tarfile.REGTYPE, "0o644", ""),
        ("b/link", tarfile.SYMTYPE, "0o777", "../a.txt"),
        ("b/run.sh", tarfile.REGTYPE, "0o755", ""),
    ]
    assert {(member.mtime, member.uid, member.gid, member.uname, member.gname) for member in members} == {
        (0, 0, 0, "", "")
    }


def test_the_bytes_and_the_digest_do_not_depend_on_times_modes_of_groups_and_the_place(
    tmp_path: Path,
) -> None:
    first_path, other_path = folder(tmp_path / "one"), folder(tmp_path / "other")
    os.utime(other_path / "a.txt", (1, 1))
    (other_path / "a.txt").chmod(0o600)
    (other_path / "b/run.sh").chmod(0o700)
    (other_path / "empty").mkdir()
    assert stream(first_path) == stream(other_path)
    assert len(stream(first_path)) % tarfile.RECORDSIZE == 0
    assert context_digest(read_context(first_path)) == context_digest(read_context(other_path))


def test_names_that_a_header_has_no_room_for_are_kept(tmp_path: Path) -> None:
    name = f"{'ä' * 100}/{'b' * 200}"
    image_folder(tmp_path, START, {name: "x"})
    with tarfile.open(fileobj=io.BytesIO(stream(tmp_path))) as archive:
        assert name in archive.getnames()


def digest(path: Path) -> str:
    return context_digest(read_context(path))


def test_the_digest_changes_with_what_the_build_reads(tmp_path: Path) -> None:
    digests = [digest(folder(tmp_path))]

    def changed_digest() -> str:
        digests.append(digest(tmp_path))
        return digests[-1]

    (tmp_path / "a.txt").write_text("other")
    assert changed_digest() not in digests[:-1], "a content"
    (tmp_path / "a.txt").chmod(0o755)
    assert changed_digest() not in digests[:-1], "a mode"
    (tmp_path / "a.txt").rename(tmp_path / "z.txt")
    assert changed_digest() not in digests[:-1], "a name"
    (tmp_path / "b/link").unlink()
    (tmp_path / "b/link").symlink_to("c")
    assert changed_digest() not in digests[:-1], "the target of a link"
    (tmp_path / "Dockerfile").write_text(f"{START}RUN x\n")
    assert changed_digest() not in digests[:-1], "the Dockerfile"


def test_the_digest_stays_where_the_build_reads_the_same(tmp_path: Path) -> None:
    image_folder(tmp_path, START, {"a": "", "b.md": "1", ".dockerignore": ".dockerignore\n*.md\n"})
    before = digest(tmp_path)
    (tmp_path / "b.md").write_text("2")
    (tmp_path / ".dockerignore").write_text("# another line\n.dockerignore\nb.md\n")
    assert digest(tmp_path) == before


def test_a_dockerfile_that_is_not_copied_still_counts(tmp_path: Path) -> None:
    image_folder(tmp_path, START, {".dockerignore": "*\n"})
    hidden_digest = digest(tmp_path)
    (tmp_path / "Dockerfile").write_text(f"{START}RUN x\n")
    assert digest(tmp_path) != hidden_digest
    (tmp_path / "Dockerfile").write_text(START)
    (tmp_path / ".dockerignore").write_text("*\n!Dockerfile\n")
    assert digest(tmp_path) != hidden_digest


@pytest.mark.parametrize("content", ["y" * 600, "x", "x" * 601, None])
def test_a_file_that_changed_since_it_was_read_is_refused(tmp_path: Path, content: str | None) -> None:
    context = read_context(folder(tmp_path))
    (tmp_path / "a.txt").unlink()
    if content is not None:
        (tmp_path / "a.txt").write_text(content)
    with pytest.raises(FindingsError) as caught:
        write_context(context, io.BytesIO())
    (finding,) = caught.value.findings
    assert (finding.code, finding.file) == ("FL305", tmp_path / "a.txt")
