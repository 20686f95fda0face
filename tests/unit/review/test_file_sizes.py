"""Sizes of files that two locks record with other checksums: known where a commit has what its lock recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from triton_fleet.project.project import Fleet, open_project
from triton_fleet.review.base_tree import base_tree, file_sizes
from triton_fleet.review.environment_side import base_side, head_side
from triton_fleet.store.lock import write_locks

CODE, CONFIG = "embed/1/model.py", "embed/config.pbtxt"
BEFORE, AFTER = "class TritonPythonModel: x = 1\n", "class TritonPythonModel: x = 12\n"


@pytest.fixture
def folder(tmp_path: Path) -> FleetFolder:
    """A fleet below the top of its repository, whose model is locked."""
    folder = FleetFolder(tmp_path / "top" / "fleet")
    folder.spec()
    folder.environment()
    folder.lock()
    return folder


def commit_branch(folder: FleetFolder) -> None:
    GitRepository.around(folder.root.parent).branch()


def lock_code(folder: FleetFolder, code: str = AFTER) -> None:
    folder.write(f"repository/{CODE}", code)
    write_locks(open_project(folder.root, "dev"))


def sizes(folder: FleetFolder) -> tuple[dict[str, int], dict[str, int]]:
    """By path, in the base and in the work tree."""
    with base_tree(folder.root, "main") as base:
        before = base_side(Fleet(base.root), "dev")
        after = head_side(Fleet(folder.root), "dev", before)
        environment = open_project(folder.root, "dev").environment
        names = ["sentences"]
        sides = [item.revisions(names, environment) for item in (before, after)]
        actual_file_sizes = file_sizes(base, sides[0], sides[1], names)
    old, new = (dict(size.get("sentences", {}).get("sentences", {})) for size in actual_file_sizes)
    return old, new


def test_both_commits_have_the_file_that_differs_and_no_other_is_read(folder: FleetFolder) -> None:
    commit_branch(folder)
    lock_code(folder)
    assert sizes(folder) == ({CODE: len(BEFORE)}, {CODE: len(AFTER)})


def test_a_new_file_has_a_size_in_the_work_tree_alone(folder: FleetFolder) -> None:
    commit_branch(folder)
    folder.write("repository/embed/1/words.txt", "one\n")
    lock_code(folder, BEFORE)
    assert sizes(folder) == ({}, {"embed/1/words.txt": 4})


def test_weights_that_git_ignores_have_none_in_the_base(folder: FleetFolder) -> None:
    folder.write(".gitignore", "*.py\n")
    commit_branch(folder)
    lock_code(folder)
    assert sizes(folder) == ({}, {CODE: len(AFTER)})


def test_a_pointer_in_place_of_the_file_is_not_measured(folder: FleetFolder) -> None:
    folder.write(f"repository/{CODE}", "version https://git-lfs.github.com/spec/v1\n")
    commit_branch(folder)
    lock_code(folder)
    folder.write(f"repository/{CODE}", "version https://git-lfs.github.com/spec/v1\n")
    assert sizes(folder) == ({}, {})


def test_a_link_is_not_followed(folder: FleetFolder, tmp_path: Path) -> None:
    commit_branch(folder)
    lock_code(folder)
    code, elsewhere = folder.root / "repository" / CODE, tmp_path / "elsewhere.py"
    code.rename(elsewhere)
    code.symlink_to(elsewhere)
    assert sizes(folder) == ({CODE: len(BEFORE)}, {})


def test_a_repository_outside_of_the_clone_is_not_read(folder: FleetFolder, tmp_path: Path) -> None:
    commit_branch(folder)
    lock_code(folder)
    (folder.root / "repository").rename(tmp_path / "repository")
    folder.spec(
        base=(folder.root / "model_specs/sentences.yaml").read_text().replace("../rep", "../../../rep")
    )
    assert sizes(folder) == ({CODE: len(BEFORE)}, {})


@pytest.mark.parametrize("path", ["../../../elsewhere.py", "embed", ".", "a\\0b", "\\ud800", "x" * 5000])
def test_a_path_of_a_lock_that_is_none_of_a_file_is_not_read(folder: FleetFolder, path: str) -> None:
    commit_branch(folder)
    lock_code(folder)
    lock = folder.root / "locks/dev/sentences.lock.yaml"
    lock.write_text(lock.read_text().replace(f"{CODE}:", f'"{path}":'))
    old, new = sizes(folder)
    assert path not in {**old, **new}
