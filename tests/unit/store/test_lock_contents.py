"""The lock's facts of the repositories, the same on whatever machine and day it is written."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.spec.lock import LockedRepository
from triton_fleet.store.archive import DigestWriter, write_tar
from triton_fleet.store.lock import lock_text, write_locks
from triton_fleet.store.lock_measurement import fold_checksums, measured_lock
from triton_fleet.store.sources.folder import FolderSource, file_entry, read_chunks
from triton_fleet.store.sources.spec_sources import SpecRepositories

LIMITED_CODE = """
import resource, sys
from pathlib import Path
from triton_fleet.store.lock import write_locks
from triton_fleet.findings import CannotRunError
from triton_fleet.project.project import open_project

resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    write_locks(open_project(Path(sys.argv[1]), "dev"))
except CannotRunError as error:
    print(error)
"""


@pytest.fixture
def repository(folder: FleetFolder) -> Path:
    """The model repository that the folder's spec points at."""
    folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    folder.write("repository/embed/1/model.py", "x = 1\n")
    folder.write("repository/embed/1/größe 模型.onnx", "weights")
    return folder.root / "repository"


def locked_repository(folder: FleetFolder) -> LockedRepository:
    write_locks(open_project(folder.root, "dev"))
    file = open_project(folder.root, "dev").lock_file("sentences")
    return load_lock(file).repositories["sentences"]


def test_each_file_has_a_checksum_and_those_of_onnx_a_digest(folder: FleetFolder, repository: Path) -> None:
    actual_repository = locked_repository(folder)
    files = {
        "embed/config.pbtxt": b'backend: "python"\n',
        "embed/1/model.py": b"x = 1\n",
        "embed/1/größe 模型.onnx": b"weights",
    }
    assert actual_repository.files == {
        path: f"crc32:{zlib.crc32(content):08x}" for path, content in files.items()
    }
    assert actual_repository.onnx == {
        "embed/1/größe 模型.onnx": f"sha256:{hashlib.sha256(b'weights').hexdigest()}"
    }


def test_a_folder_of_many_files_has_one_checksum_which_knows_each(
    folder: FleetFolder, repository: Path
) -> None:
    for number in range(51):
        folder.write(f"repository/embed/1/vocab/{number}", str(number))
    before = locked_repository(folder).files
    assert [path for path in before if "vocab" in path] == ["embed/1/vocab/*"]
    (repository / "embed/1/vocab/7").write_text("8")
    assert locked_repository(folder).files["embed/1/vocab/*"] != before["embed/1/vocab/*"]
    (repository / "embed/1/vocab/7").rename(repository / "embed/1/vocab/seven")
    (repository / "embed/1/vocab/7").write_text("7")
    (repository / "embed/1/vocab/seven").unlink()
    assert locked_repository(folder).files == before


def test_fifty_files_of_a_folder_are_still_named() -> None:
    files = {f"a/{number}": f"crc32:{number:08x}" for number in range(50)}
    assert fold_checksums(files) == files


def test_order_of_creation_times_modes_and_umask_change_nothing(
    folder: FleetFolder, repository: Path
) -> None:
    project = open_project(folder.root, "dev")
    text = lock_text(measured_lock(SpecRepositories(project.load("sentences")), project.environment))
    contents = {path: path.read_bytes() for path in sorted(repository.rglob("*")) if path.is_file()}
    for path in contents:
        path.unlink()
    umask = os.umask(0o077)
    try:
        for path, content in reversed(contents.items()):
            path.write_bytes(content)
            os.utime(path, (1, 1))
            path.chmod(0o700)
    finally:
        os.umask(umask)
    if os.geteuid() == 0:
        os.chown(repository / "embed/1/model.py", 1234, 1234)
    assert lock_text(measured_lock(SpecRepositories(project.load("sentences")), project.environment)) == text


@pytest.mark.nightly
def test_the_lock_is_the_same_whatever_the_hash_seed(folder: FleetFolder, repository: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from triton_fleet.store.lock import lock_text; from triton_fleet.store.lock_measurement import measured_lock; from triton_fleet.store.sources.spec_sources import SpecRepositories;"
        "from triton_fleet.project.project import open_project;"
        "project = open_project(Path(sys.argv[1]), 'dev');"
        "print(lock_text(measured_lock(SpecRepositories(project.load('sentences')), project.environment)))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code, folder.root],
            check=True,
            capture_output=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "LC_ALL": "C",
            },
        ).stdout
        for seed in ("0", "1", "42")
    }
    assert len(texts) == 1
    assert "größe 模型.onnx".encode() in texts.pop()


def test_a_lock_of_many_archives_is_read_whole(folder: FleetFolder, repository: Path) -> None:
    archives = "".join(
        f'  a{number}: {{digest: "sha256:{number:064x}", size: {number}, models: [embed]}}\n'
        for number in range(20_000)
    )
    file = folder.write("locks/dev/sentences.lock.yaml", f"endpoint: sentences\narchives:\n{archives}")
    assert file.stat().st_size > 2 << 20
    assert load_lock(file).archives["a19999"].size == 19_999


@pytest.mark.parametrize("content", [b"x = 2\n", b"x", b"x = 1234\n", b""])
def test_a_file_that_is_written_to_while_it_is_read_is_refused(repository: Path, content: bytes) -> None:
    model = repository / "embed/1/model.py"
    chunks = read_chunks(model, model.stat().st_size)
    next(chunks)
    model.write_bytes(content)
    os.utime(model, (1, 1))
    with pytest.raises(FindingsError, match="model.py: error FL305: the file changed while it was read"):
        list(chunks)


def test_a_file_that_is_gone_or_longer_by_the_time_it_is_read_is_refused(repository: Path) -> None:
    model = repository / "embed/1/weights.bin"
    model.write_bytes(b"short")
    entry = file_entry(model, "m", model.stat().st_size)
    model.write_bytes(b"a file that is longer")
    with pytest.raises(FindingsError, match="FL305"):
        write_tar([entry], DigestWriter())
    model.unlink()
    with pytest.raises(FindingsError, match="FL305"):
        write_tar([entry], DigestWriter())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_that_must_not_be_read_is_named(folder: FleetFolder, repository: Path) -> None:
    (repository / "embed/1/model.py").chmod(0)
    with pytest.raises(FindingsError, match="model.py: error FL406: the file cannot be read"):
        write_locks(open_project(folder.root, "dev"))


@pytest.mark.parametrize("name", [b"caf\xe9", b"a\nb", b"a\xc2\x85b"])
def test_a_name_that_is_no_text_is_refused(folder: FleetFolder, repository: Path, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(repository / "embed/1") + b"/" + name)).touch()
    with pytest.raises(FindingsError) as refusal:
        write_locks(open_project(folder.root, "dev"))
    (finding,) = refusal.value.findings
    assert (finding.code, finding.file) == ("FL414", repository / "embed/1")
    assert str(finding).encode()


def test_a_full_disk_leaves_the_lock_as_it_was(folder: FleetFolder, repository: Path) -> None:
    (lock,) = write_locks(open_project(folder.root, "dev"))
    before = lock.read_bytes()
    folder.write("repository/embed/1/model.py", "x = 2\n")
    output = subprocess.run(
        [sys.executable, "-c", LIMITED_CODE, folder.root],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ).stdout
    assert output == f"{lock} cannot be written: File too large\n"
    assert lock.read_bytes() == before
    assert list(lock.parent.iterdir()) == [lock]


def test_a_lock_in_a_place_that_takes_none_is_told(folder: FleetFolder, repository: Path) -> None:
    locks = folder.root / "locks/dev"
    (locks / "sentences.lock.yaml").unlink()
    locks.rmdir()
    locks.write_text("a file")
    with pytest.raises(CannotRunError, match="sentences.lock.yaml cannot be written"):
        write_locks(open_project(folder.root, "dev"))


def test_hidden_entries_are_nowhere_in_the_stream(repository: Path) -> None:
    (repository / ".git").mkdir()
    (repository / ".git/config").write_text("secret")
    (repository / "embed/1/.env").write_text("secret")
    stream = DigestWriter()
    checksums = FolderSource.of(repository).write(stream)
    assert sorted(checksums.files) == ["embed/1/größe 模型.onnx", "embed/1/model.py", "embed/config.pbtxt"]
