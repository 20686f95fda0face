"""A lock says what an environment will run, whatever machine and day it is written on."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.lock import write_locks
from triton_fleet.store.sources.folder import FolderSource


@pytest.fixture
def repository(folder: FleetFolder) -> Path:
    """The model repository that the folder's spec points at."""
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.write("repository/embed/1/model.py", "x = 1\n")
    folder.write("repository/ensemble/config.pbtxt", 'platform: "ensemble"\n')
    (folder.root / "repository/ensemble/1").mkdir(parents=True)
    return folder.root / "repository"


def measure_repository(repository: Path) -> DigestWriter:
    """Digest and size of the repository's tar stream."""
    stream = DigestWriter()
    FolderSource.of(repository).write(stream)
    return stream


def test_the_lock_holds_digest_size_and_models(folder: FleetFolder, repository: Path) -> None:
    (file,) = write_locks(open_project(folder.root, "dev"))
    archive = load_lock(file).archives["sentences"]
    stream = measure_repository(repository)
    assert (archive.digest, archive.size) == (stream.digest, stream.size)
    assert list(archive.models) == ["embed", "ensemble"]


def test_an_unchanged_repository_leaves_the_lock_as_it_is(folder: FleetFolder, repository: Path) -> None:
    write_locks(open_project(folder.root, "dev"))
    assert write_locks(open_project(folder.root, "dev")) == []


def test_times_modes_owners_and_hidden_files_do_not_change_the_digest(repository: Path) -> None:
    before = measure_repository(repository).digest
    model = repository / "embed/1/model.py"
    os.utime(model, (0, 0))
    model.chmod(0o600)
    (repository / "embed/.hidden").write_text("x")
    (repository / "embed/1/__pycache__").mkdir()
    (repository / "embed/1/__pycache__/model.pyc").write_text("x")
    assert measure_repository(repository).digest == before


def test_content_and_names_change_the_digest(repository: Path) -> None:
    digests = {measure_repository(repository).digest}
    (repository / "embed/1/model.py").write_text("x = 2\n")
    digests.add(measure_repository(repository).digest)
    (repository / "embed/1/model.py").rename(repository / "embed/1/other.py")
    digests.add(measure_repository(repository).digest)
    assert len(digests) == 3


def test_the_repository_is_the_archives_root_and_empty_versions_survive(repository: Path) -> None:
    stream = io.BytesIO()
    FolderSource.of(repository).write(stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as tar:
        names = tar.getnames()
    assert names == [
        "embed",
        "embed/config.pbtxt",
        "embed/1",
        "embed/1/model.py",
        "ensemble",
        "ensemble/config.pbtxt",
        "ensemble/1",
    ]


def test_a_model_whose_files_were_not_made_is_not_locked(folder: FleetFolder, repository: Path) -> None:
    folder.write("repository/minilm/config.pbtxt", 'platform: "onnxruntime_onnx"\n')
    with pytest.raises(
        FindingsError, match="FL404: .* of model 'minilm': it has no version directory with a file"
    ):
        write_locks(open_project(folder.root, "dev"))
    (repository / "minilm/1").mkdir()
    with pytest.raises(
        FindingsError, match="FL404: .* of model 'minilm': it has no version directory with a file"
    ):
        write_locks(open_project(folder.root, "dev"))


@pytest.mark.parametrize(
    ("file", "may_be_none"),
    [
        ("config.pbtxt", False),
        ("model.onnx", False),
        ("v1/model.onnx", False),
        ("a/b/model.onnx", False),
        ("a/notes.txt", True),
    ],
)
def test_a_folder_without_a_version_may_be_no_model_unless_it_holds_files_of_one(
    tmp_path: Path, file: str, may_be_none: bool
) -> None:
    (tmp_path / "ensemble" / file).parent.mkdir(parents=True)
    (tmp_path / "ensemble" / file).touch()
    with pytest.raises(FindingsError) as refusal:
        FolderSource.of(tmp_path).served_models()
    (finding,) = refusal.value.findings
    assert ("remove the folder" in finding.hint) is may_be_none


def test_a_models_folder_in_place_of_a_repository_is_refused(folder: FleetFolder, repository: Path) -> None:
    (repository / "config.pbtxt").write_text("")
    with pytest.raises(FindingsError, match="FL402: .* config.pbtxt is at the root"):
        write_locks(open_project(folder.root, "dev"))


def test_a_models_name_with_white_space_is_refused(folder: FleetFolder, repository: Path) -> None:
    (repository / "my model" / "1").mkdir(parents=True)
    with pytest.raises(FindingsError, match="FL405: 'my model' cannot be a model's name"):
        write_locks(open_project(folder.root, "dev"))


def test_hidden_links_are_left_out_like_other_hidden_files(repository: Path) -> None:
    before = measure_repository(repository).digest
    (repository / "embed/.#model.py").symlink_to("/nowhere")
    assert measure_repository(repository).digest == before


def test_a_lock_that_is_no_text_is_written_anew(folder: FleetFolder, repository: Path) -> None:
    lock = folder.root / "locks/dev/sentences.lock.yaml"
    lock.write_bytes(b"\xff\xfe")
    assert write_locks(open_project(folder.root, "dev")) == [lock]


def test_links_are_not_packed(repository: Path) -> None:
    (repository / "embed/1/weights").symlink_to("/etc/hostname")
    with pytest.raises(FindingsError, match="FL403"):
        measure_repository(repository)


def test_a_missing_repository_is_told_and_no_lock_is_written(folder: FleetFolder) -> None:
    lock = folder.root / "locks/dev/sentences.lock.yaml"
    lock.unlink()
    (folder.root / "repository").rmdir()
    with pytest.raises(FindingsError) as refusal:
        write_locks(open_project(folder.root, "dev"))
    (finding,) = refusal.value.findings
    assert (finding.code, finding.file, finding.line) == (
        "FL401",
        folder.root / "model_specs/sentences.yaml",
        5,
    )
    assert not lock.exists()
