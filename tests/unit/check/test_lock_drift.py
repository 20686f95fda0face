"""A lock that no longer is what its repositories are is a finding, which names what changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.check.lock_drift import MAX_DIFFERENCES, stale_findings
from triton_fleet.check.run import checked_fleet
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_lock, write_locks

MODEL, NEW = "embed/1/model.py", "embed/1/new.py"
HINT = "run `fleet lock --env dev sentences` and have the change reviewed"
SINCE = "since it was locked"


@pytest.fixture
def repository(folder: FleetFolder) -> Path:
    """It is locked."""
    folder.lock()
    return folder.root / "repository"


def stale(folder: FleetFolder) -> list[Finding]:
    return stale_findings(open_project(folder.root, "dev"), "sentences")


def drift_rows(folder: FleetFolder, repository: Path) -> list[tuple[str, str]]:
    findings = stale(folder)
    assert {finding.code for finding in findings} == {"FL306"}
    assert {finding.hint for finding in findings} == {HINT}
    return [(str(f.file.relative_to(repository)) if f.file else "", f.message) for f in findings]


def test_a_lock_that_is_true_is_not_stale(folder: FleetFolder, repository: Path) -> None:
    assert stale(folder) == []


def test_changed_new_and_removed_files_are_named(folder: FleetFolder, repository: Path) -> None:
    folder.write("repository/embed/1/old.py", "")
    write_locks(open_project(folder.root, "dev"))
    (repository / MODEL).write_text("class TritonPythonModel: x = 2\n")
    (repository / NEW).touch()
    (repository / "embed/1/old.py").unlink()
    assert drift_rows(folder, repository) == [
        (MODEL, f"the file changed {SINCE}"),
        (NEW, f"the file was added {SINCE}"),
        ("embed/1/old.py", f"the file is gone {SINCE}"),
    ]


def test_hidden_files_times_and_modes_make_no_lock_stale(folder: FleetFolder, repository: Path) -> None:
    (repository / "embed/1/.cache").touch()
    (repository / MODEL).touch()
    (repository / MODEL).chmod(0o600)
    assert stale(folder) == []


def test_a_folder_of_many_files_is_named_as_one(folder: FleetFolder, repository: Path) -> None:
    for number in range(60):
        folder.write(f"repository/embed/1/vocab/{number}", "x")
    write_locks(open_project(folder.root, "dev"))
    (repository / "embed/1/vocab/7").write_text("y")
    assert drift_rows(folder, repository) == [("embed/1/vocab", f"some file in the folder changed {SINCE}")]


def test_one_file_too_many_is_no_list_of_all_others(folder: FleetFolder, repository: Path) -> None:
    for number in range(50):
        folder.write(f"repository/embed/1/vocab/{number}", "x")
    write_locks(open_project(folder.root, "dev"))
    (repository / "embed/1/vocab/50").write_text("x")
    assert drift_rows(folder, repository) == [("embed/1/vocab", f"some file in the folder changed {SINCE}")]


def test_the_first_of_many_changes_are_named_and_the_rest_counted(
    folder: FleetFolder, repository: Path
) -> None:
    for number in range(MAX_DIFFERENCES + 5):
        folder.write(f"repository/embed/1/n{number:02}.py", "")
    findings = stale(folder)
    assert len(findings) == MAX_DIFFERENCES + 1
    assert findings[-1].message == f"5 more files changed {SINCE}"
    assert findings[-1].file == folder.root / "locks/dev/sentences.lock.yaml"


@pytest.mark.parametrize("what", ["digest", "size", "models"])
def test_an_edited_lock_is_stale_though_no_file_changed(
    folder: FleetFolder, repository: Path, what: str
) -> None:
    file = folder.root / "locks/dev/sentences.lock.yaml"
    text = file.read_text()
    archive = load_lock(file).archives["sentences"]
    edited_files = {
        "digest": text.replace(archive.digest, f"sha256:{'0' * 64}"),
        "size": text.replace(f"size: {archive.size}", "size: 1"),
        "models": text.replace("      embed:\n", "      other:\n"),
    }
    file.write_text(edited_files[what])
    (finding,) = stale(folder)
    assert (finding.file, finding.message) == (
        file,
        "the lock is not what `fleet lock` would write: its content was changed",
    )


def test_a_promoted_lock_is_not_held_against_the_repositories_here(
    folder: FleetFolder, repository: Path
) -> None:
    file = folder.root / "locks/dev/sentences.lock.yaml"
    write_lock(file, load_lock(file).model_copy(update={"promoted_from": "staging"}), folder.root)
    (repository / MODEL).write_text("class TritonPythonModel: x = 2\n")
    assert stale(folder) == []


def test_a_repository_that_another_file_names_is_found_from_there(
    folder: FleetFolder, repository: Path
) -> None:
    """A path in `overrides` is relative to the environment's file."""
    (folder.root / "environments/other").mkdir()
    repository.rename(folder.root / "environments/other/repository")
    models = "{archive: sentences, repository: other/repository}"
    folder.environment(f"overrides:\n  sentences:\n    models: [{models}]\n")
    moved_root = folder.root / "environments/other/repository"
    (moved_root / MODEL).write_text("class TritonPythonModel: x = 2\n")
    assert drift_rows(folder, moved_root) == [(MODEL, f"the file changed {SINCE}")]


def test_what_is_wrong_with_spec_lock_and_repository_is_said_at_one_time(
    folder: FleetFolder, repository: Path
) -> None:
    (repository / MODEL).write_text("class TritonPythonModel: x = 2\n")
    folder.spec(base=SPEC.replace("ml.g5.xlarge", "ml.g5.huge"))
    codes = [finding.code for finding in folder.check()]
    assert len(codes) > 1
    assert "FL306" in codes
    with pytest.raises(FindingsError) as error_info:
        checked_fleet(open_project(folder.root, "dev"), trusts_locks=True)
    assert "FL306" not in {finding.code for finding in error_info.value.findings}


def test_a_missing_lock_is_told_once(folder: FleetFolder, repository: Path) -> None:
    (folder.root / "locks/dev/sentences.lock.yaml").unlink()
    assert stale(folder) == []
    assert len(folder.check()) == 1
