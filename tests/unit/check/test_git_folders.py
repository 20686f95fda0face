"""Folders that Git takes for repositories are errors wherever a spec leads to them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.hostile_git import Marks, write_bare
from triton_fleet.findings import Severity

MODELS = (
    "models:\n  - {archive: one, repository: ../models/one}\n  - {archive: two, repository: ../models/two}\n"
)
LAYOUTS = {
    "single": SPEC,
    "multi-model": f"endpoint: sentences\nmode: multi-model\ntriton: '25.04'\ninstance: {{type: ml.c7i.xlarge}}\n{MODELS}",
    "shared-container": SPEC.replace("endpoint:", "mode: shared-container\nendpoint:"),
}


def finding_rows(folder: FleetFolder) -> list[tuple[str, str, Severity]]:
    return [
        (finding.code, finding.file.relative_to(folder.root).as_posix(), finding.severity)
        for finding in folder.check()
        if finding.code in ("FL751", "FL752") and finding.file
    ]


@pytest.mark.parametrize(
    ("layout", "repository"),
    [
        ("single", "repository"),
        ("single", "repository/embed"),
        ("single", "repository/embed/1"),
        ("single", "repository/.hidden/deep"),
        ("multi-model", "models/one"),
        ("multi-model", "models/two/net"),
        ("shared-container", "repository"),
    ],
)
def test_a_bare_repository_is_found_in_every_layout(
    folder: FleetFolder, marks_folder: Marks, layout: str, repository: str
) -> None:
    folder.spec(base=LAYOUTS[layout])
    for name in ("repository/embed", "models/one/net", "models/two/net"):
        folder.write(f"{name}/config.pbtxt", 'backend: "python"\n')
        folder.write(f"{name}/1/model.py", "class TritonPythonModel: x = 1\n")
    (folder.root / repository).mkdir(parents=True, exist_ok=True)
    assert finding_rows(folder) == []
    write_bare(folder.root / repository, marks_folder)
    assert finding_rows(folder) == [("FL751", f"{repository}/HEAD", Severity.ERROR)]


@pytest.mark.parametrize("place", ["", "model_specs/team", "locks/dev", "environments"])
def test_a_fleet_below_the_top_of_its_clone_has_none_either(
    folder: FleetFolder, marks_folder: Marks, place: str
) -> None:
    GitRepository.around(folder.root.parent)
    (folder.root / place).mkdir(exist_ok=True)
    write_bare(folder.root / place, marks_folder)
    assert finding_rows(folder) == [("FL751", f"{place}/HEAD".lstrip("/"), Severity.ERROR)]
    assert marks_folder.mark_names == []


def test_what_leads_to_the_objects_of_others_is_one_too(folder: FleetFolder) -> None:
    folder.write("repository/embed/HEAD", "ref: refs/heads/main\n")
    folder.write("repository/embed/commondir", "/elsewhere\n")
    assert finding_rows(folder) == [("FL751", "repository/embed/HEAD", Severity.ERROR)]


def test_executable_files_in_the_place_of_its_folders_make_one_too(
    folder: FleetFolder, marks_folder: Marks
) -> None:
    folder.lock()
    place = folder.root / "repository/embed"
    folder.write("repository/embed/HEAD", "ref: refs/heads/main\n")
    marks_folder.write(place, "core.fsmonitor", core="worktree = .\n")
    for name in ("objects", "refs"):
        folder.write(f"repository/embed/{name}", "").chmod(0o755)
    assert finding_rows(folder) == [("FL751", "repository/embed/HEAD", Severity.ERROR)]
    assert marks_folder.mark_names == []
    subprocess.run(["git", "status"], cwd=place, check=False, capture_output=True)
    assert marks_folder.mark_names != []


@pytest.mark.parametrize("inside", ["repository", "repository/embed/1", "repository/.hidden"])
def test_a_git_folder_inside_of_a_repository_is_found(
    folder: FleetFolder, marks_folder: Marks, inside: str
) -> None:
    folder.lock()
    (folder.root / inside).mkdir(exist_ok=True)
    GitRepository.around(folder.root / inside)
    marks_folder.write(folder.root / inside / ".git", "core.fsmonitor")
    assert finding_rows(folder) == [("FL752", f"{inside}/.git", Severity.ERROR)]
    assert marks_folder.mark_names == []


def test_one_inside_of_the_folder_of_an_image_is_found(folder: FleetFolder, marks_folder: Marks) -> None:
    folder.lock()
    folder.write("images/own/Dockerfile", "ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\n")
    folder.spec("image: {build: ../images/own}\n")
    GitRepository.around(folder.root / "images/own")
    write_bare(folder.root / "images/own", marks_folder)
    assert sorted(finding_rows(folder)) == [
        ("FL751", "images/own/HEAD", Severity.ERROR),
        ("FL752", "images/own/.git", Severity.ERROR),
    ]


@pytest.mark.parametrize("below", ["third", "third/models"])
def test_a_submodule_of_the_clone_is_none(folder: FleetFolder, tmp_path: Path, below: str) -> None:
    folder.lock()
    other_folder = tmp_path / "other" / below.removeprefix("third").lstrip("/")
    shutil.copytree(folder.root / "repository", other_folder)
    GitRepository.around(tmp_path / "other")
    repository = GitRepository.around(folder.root)
    options = ("-c", "protocol.file.allow=always", "submodule", "add", "--quiet")
    repository.git(*options, str(tmp_path / "other"), "third")
    folder.spec(base=SPEC.replace("../repository", f"../{below}"))
    assert finding_rows(folder) == []
    linked_folder = FleetFolder(tmp_path / "linked")
    repository.commit()
    repository.git("worktree", "add", "--quiet", str(linked_folder.root), "-b", "work")
    GitRepository(linked_folder.root).git("-c", "protocol.file.allow=always", "submodule", "update", "--init")
    assert finding_rows(linked_folder) == []


def test_a_file_that_leads_elsewhere_is_no_submodule(folder: FleetFolder, tmp_path: Path) -> None:
    folder.lock()
    GitRepository.around(folder.root)
    folder.write("repository/embed/.git", f"gitdir: {tmp_path}/theirs\n")
    assert finding_rows(folder) == [("FL752", "repository/embed/.git", Severity.ERROR)]


def test_a_spec_may_allow_a_clone_as_its_repository_and_never_a_bare_one(folder: FleetFolder) -> None:
    folder.lock()
    (folder.root / "repository/.git").mkdir()
    folder.spec('allow: {nested-git-folder: "our models have a clone of their own"}\n')
    assert finding_rows(folder) == []
    folder.spec('allow: {bare-git-repository: "why"}\n')
    assert "FL752" in [code for code, _, _ in finding_rows(folder)]
