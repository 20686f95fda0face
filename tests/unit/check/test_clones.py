"""A lock is true in every clone: Git drops empty folders, changes line ends, and does not keep all weights."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.check.lock_drift import stale_findings
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.lock import write_locks
from triton_fleet.store.sources.folder import FolderSource

ENSEMBLE = """\
platform: "ensemble"
input { name: "x" data_type: TYPE_FP32 dims: 1 }
output { name: "y" data_type: TYPE_FP32 dims: 1 }
ensemble_scheduling {
  step { model_name: "embed" model_version: -1 input_map { key: "x" value: "x" } output_map { key: "y" value: "y" } }
}
"""
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "a" * 64 + "\nsize 94371840\n"
LOCK = "locks/dev/sentences.lock.yaml"


def git(folder: Path, *command: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.autocrlf=false")
    subprocess.run(["git", "-C", str(folder), *identity, *command], check=True, capture_output=True)


@pytest.fixture
def origin(folder: FleetFolder) -> FleetFolder:
    """A fleet in Git; tests lock and commit it."""
    folder.lock()
    git(folder.root, "init", "--quiet")
    return folder


def clone(origin: FleetFolder, tmp_path: Path, *options: str) -> FleetFolder:
    """A clone of all that the origin has now, with its lock."""
    write_locks(open_project(origin.root, "dev"))
    git(origin.root, "add", "--all")
    git(origin.root, "commit", "--quiet", "--message", "All")
    subprocess.run(
        ["git", *options, "clone", "--quiet", str(origin.root), str(tmp_path / "clone")],
        check=True,
        capture_output=True,
    )
    return FleetFolder(tmp_path / "clone")


def stale(folder: FleetFolder) -> list[Finding]:
    return stale_findings(open_project(folder.root, "dev"), "sentences")


def entry_names(repository: Path) -> list[str]:
    stream = io.BytesIO()
    FolderSource.of(repository).write(stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as tar:
        return tar.getnames()


def digest(repository: Path) -> str:
    stream = DigestWriter()
    FolderSource.of(repository).write(stream)
    return stream.digest


@pytest.mark.parametrize(
    ("config", "empty", "packed_lines"),
    [
        (ENSEMBLE, ["1"], ["1"]),
        (ENSEMBLE, [], ["1"]),
        (ENSEMBLE, ["2"], ["1"]),
        (ENSEMBLE + "version_policy { specific { versions: [3, 4] } }", ["3"], ["3", "4"]),
        ('backend: "identity"', ["1"], ["1"]),
        ('backend: "tensorrtllm"', ["1/.gitkeep"], ["1"]),
    ],
)
def test_a_version_folder_that_git_drops_makes_no_lock_stale(
    origin: FleetFolder, tmp_path: Path, config: str, empty: list[str], packed_lines: list[str]
) -> None:
    origin.write("repository/chain/config.pbtxt", config)
    for version in empty:
        (origin.root / "repository/chain" / version).mkdir(parents=True)
    other_folder = clone(origin, tmp_path)
    assert not (other_folder.root / "repository/chain/1").exists() or ".gitkeep" in empty[0]
    assert stale(other_folder) == stale(origin) == []
    names = [name for name in entry_names(other_folder.root / "repository") if name.startswith("chain/")]
    assert names == ["chain/config.pbtxt", *(f"chain/{version}" for version in packed_lines)]
    errors = [finding for finding in other_folder.check() if finding.code == "FL404"]
    assert errors == []


def test_other_folders_without_files_make_no_lock_stale_either(origin: FleetFolder, tmp_path: Path) -> None:
    (origin.root / "repository/embed/1/cache/deep").mkdir(parents=True)
    (origin.root / "repository/embed/2").mkdir()
    other_folder = clone(origin, tmp_path)
    assert stale(other_folder) == stale(origin) == []
    assert entry_names(origin.root / "repository") == [
        "embed",
        "embed/config.pbtxt",
        "embed/1",
        "embed/1/model.py",
    ]


def test_a_version_that_is_left_out_is_named(origin: FleetFolder) -> None:
    (origin.root / "repository/embed/2").mkdir()
    (finding,) = [finding for finding in origin.check() if finding.code == "FL463"]
    assert finding.message == "the version directory 2 of 'embed' is empty, so it is not packed"


def test_line_ends_that_git_changes_make_no_lock_stale(origin: FleetFolder, tmp_path: Path) -> None:
    origin.write("repository/embed/1/vocabulary.txt", "a\nb\n" * 300_000)
    (origin.root / "repository/embed/1/weights.bin").write_bytes(b"\0\r\n\n")
    other_folder = clone(origin, tmp_path, "-c", "core.autocrlf=true")
    assert b"\r\n" in (other_folder.root / "repository/embed/1/vocabulary.txt").read_bytes()
    assert b"\r\n" in (other_folder.root / "repository/embed/config.pbtxt").read_bytes()
    assert stale(other_folder) == []
    assert digest(other_folder.root / "repository") == digest(origin.root / "repository")


@pytest.mark.parametrize("content", [b"a\0\r\nb", "a\r\n".encode("utf-16")])
def test_what_is_no_text_is_packed_byte_for_byte(origin: FleetFolder, content: bytes) -> None:
    (origin.root / "repository/embed/1/labels.txt").write_bytes(content)
    before = digest(origin.root / "repository")
    (origin.root / "repository/embed/1/labels.txt").write_bytes(content.replace(b"\r", b""))
    assert digest(origin.root / "repository") != before


def test_line_ends_of_other_files_are_named_with_what_keeps_them(origin: FleetFolder, tmp_path: Path) -> None:
    origin.write("repository/embed/1/merges", "a b\nc d\n")
    other_folder = clone(origin, tmp_path, "-c", "core.autocrlf=true")
    (finding,) = stale(other_folder)
    assert finding.message == "only the line ends of the file changed since it was locked"
    assert finding.hint.startswith("write `embed/1/merges -text` into a .gitattributes file")


@pytest.fixture
def weights(origin: FleetFolder) -> Path:
    """Weights that Git ignores."""
    origin.write(".gitignore", "*.bin\n")
    file = origin.root / "repository/embed/1/weights.bin"
    file.write_bytes(bytes(3 << 20))
    return file


def lines(findings: list[Finding]) -> list[str]:
    return [f"{finding.code} {finding.message} | {finding.hint}" for finding in findings]


def test_missing_weights_are_named_with_their_size_and_never_locked_away(
    origin: FleetFolder, tmp_path: Path, weights: Path
) -> None:
    other_folder = clone(origin, tmp_path)
    message = "the file is missing in this clone, and the lock lists it; model 'embed' lacks 3.0 MiB"
    remedy = "run the script that creates it, or copy it from where the lock was written"
    assert lines(stale(other_folder)) == [f"FL840 {message} | {remedy}"]
    before = (other_folder.root / LOCK).read_text()
    with pytest.raises(FindingsError, match="FL840") as refusal:
        write_locks(open_project(other_folder.root, "dev"))
    assert refusal.value.findings[0].hint == f"{remedy}; pass --drop-missing if it was removed on purpose"
    assert (other_folder.root / LOCK).read_text() == before


def test_a_missing_only_version_is_missing_weights_and_no_broken_layout(
    origin: FleetFolder, tmp_path: Path
) -> None:
    origin.write(".gitignore", "*.onnx\n")
    origin.write("repository/net/config.pbtxt", 'platform: "onnxruntime_onnx"\n')
    origin.write("repository/net/1/model.onnx", "x")
    other_folder = clone(origin, tmp_path)
    origin_lock = load_lock(other_folder.root / LOCK)
    assert list(origin_lock.archives["sentences"].models) == ["embed", "net"]
    assert [finding.code for finding in stale(other_folder)] == ["FL840"]


def test_changes_beside_missing_weights_are_told_too(
    origin: FleetFolder, tmp_path: Path, weights: Path
) -> None:
    other_folder = clone(origin, tmp_path)
    other_folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
    changed_finding = next(finding for finding in stale(other_folder) if finding.code == "FL306")
    assert changed_finding.hint.startswith("get the missing files, then run `fleet lock --env dev sentences`")


@pytest.mark.parametrize(
    ("file", "text", "remedy"),
    [
        ("Makefile", "all:\nweights: setup\n", "run `make weights`"),
        ("repository/embed/1.dvc", "outs: []\n", "run `dvc pull`"),
    ],
)
def test_the_remedy_is_what_the_fleet_has(
    origin: FleetFolder, tmp_path: Path, weights: Path, file: str, text: str, remedy: str
) -> None:
    origin.write(file, text)
    (finding,) = stale(clone(origin, tmp_path))
    assert finding.hint == remedy


def test_missing_weights_can_be_given_up_on_purpose(origin: FleetFolder, weights: Path) -> None:
    write_locks(open_project(origin.root, "dev"))
    weights.unlink()
    assert len(write_locks(open_project(origin.root, "dev"), drop_missing=True)) == 1
    assert stale(origin) == []


def remove_model(repository: Path) -> None:
    for path in sorted((repository / "net").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (repository / "net").rmdir()


def remove_version(repository: Path) -> None:
    (repository / "net/1/model.onnx").unlink()


def remove_code(repository: Path) -> None:
    (repository / "embed/1/helper.py").unlink()


@pytest.mark.parametrize("removal", [remove_model, remove_version, remove_code])
def test_what_is_removed_on_purpose_is_locked_without_asking(origin: FleetFolder, removal: object) -> None:
    origin.write("repository/net/config.pbtxt", 'platform: "onnxruntime_onnx"\n')
    origin.write("repository/net/1/model.onnx", "x")
    origin.write("repository/net/2/model.onnx", "x")
    origin.write("repository/embed/1/helper.py", "")
    write_locks(open_project(origin.root, "dev"))
    assert callable(removal)
    removal(origin.root / "repository")
    assert {finding.code for finding in stale(origin)} == {"FL306"}
    write_locks(open_project(origin.root, "dev"))
    assert stale(origin) == []


def test_a_pointer_of_git_lfs_is_never_packed(origin: FleetFolder) -> None:
    origin.write("repository/embed/1/weights.safetensors", "x" * 1000)
    write_locks(open_project(origin.root, "dev"))
    origin.write("repository/embed/1/weights.safetensors", POINTER)
    message = "this clone has only Git LFS's pointer to the file, which has 90.0 MiB"
    assert lines(stale(origin)) == [f"FL750 {message} | run `git lfs pull`"]
    (origin.root / LOCK).unlink()
    codes = [finding.code for finding in origin.check()]
    assert "FL750" in codes
    with pytest.raises(FindingsError, match="FL750"):
        write_locks(open_project(origin.root, "dev"))
