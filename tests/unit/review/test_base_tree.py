"""The base of a change: checked out without repositories, and always removed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from triton_fleet.findings import CannotRunError
from triton_fleet.review.base_tree import base_tree


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """A fleet below the top of its repository, on a branch with a commit of its own."""
    folder = FleetFolder(tmp_path / "top" / "fleet")
    folder.spec()
    folder.environment()
    folder.lock()
    actual_repository = GitRepository.around(tmp_path / "top")
    actual_repository.branch()
    folder.spec("logs: {retention_days: 90}\n")
    actual_repository.commit()
    return actual_repository


def work_trees(repository: GitRepository) -> int:
    return len(repository.git("worktree", "list").splitlines())


def test_it_has_the_files_of_the_merge_base_and_no_repository(repository: GitRepository) -> None:
    repository.git("checkout", "--quiet", "main")
    (repository.top / "fleet/environments/other.yaml").write_text("later on main\n")
    repository.commit()
    repository.git("checkout", "--quiet", "work")
    with base_tree(repository.top / "fleet", "main") as base:
        assert "retention_days" not in (base.root / "model_specs/sentences.yaml").read_text()
        assert sorted(path.name for path in base.root.iterdir()) == ["environments", "locks", "model_specs"]
        assert [path.name for path in (base.root / "environments").iterdir()] == ["dev.yaml"]
        assert work_trees(repository) == 1


def test_it_is_removed_whatever_happens_meanwhile(repository: GitRepository) -> None:
    def fail() -> None:
        with base_tree(repository.top / "fleet", "main") as base:
            paths.append(base.root)
            raise KeyboardInterrupt

    paths: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        fail()
    assert not paths[0].exists()
    assert work_trees(repository) == 1
    assert repository.git("status", "--porcelain") == ""


def test_hooks_of_the_clone_are_not_run(repository: GitRepository) -> None:
    hook = repository.top / ".git/hooks/post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ntouch "$(git rev-parse --git-common-dir)/ran"\n')
    hook.chmod(0o755)
    with base_tree(repository.top / "fleet", "main"):
        assert not (repository.top / ".git/ran").exists()


def test_an_unknown_base_is_named(repository: GitRepository) -> None:
    with pytest.raises(CannotRunError, match="knows no commit 'mian'"), base_tree(repository.top, "mian"):
        pass


def test_a_shallow_clone_is_told_how_to_fetch(repository: GitRepository, tmp_path: Path) -> None:
    repository.git("checkout", "--quiet", "main")
    repository.commit()
    shallow = tmp_path / "shallow"
    clone = [
        "git",
        "clone",
        "--quiet",
        "--depth",
        "1",
        "--no-single-branch",
        f"file://{repository.top}",
        str(shallow),
    ]
    subprocess.run(clone, check=True)
    subprocess.run(["git", "-C", str(shallow), "checkout", "--quiet", "work"], check=True)
    with pytest.raises(CannotRunError) as refusal, base_tree(shallow / "fleet", "origin/main"):
        pass
    assert "fetch-depth: 0" in refusal.value.remedy


def test_a_folder_outside_of_git_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="not in a Git work tree"), base_tree(tmp_path, "main"):
        pass


def plant_tree(repository: GitRepository, tree: bytes) -> None:
    """A commit on main whose model_specs is a tree that Git itself would not write."""
    command = ["git", "hash-object", "-t", "tree", "-w", "--stdin", "--literally"]
    process = subprocess.run(command, cwd=repository.top, input=tree, capture_output=True, check=True)
    text = f"040000 tree {process.stdout.decode().strip()}\tmodel_specs\n"
    actual_process = subprocess.run(
        ["git", "mktree"], cwd=repository.top, input=text.encode(), capture_output=True, check=True
    )
    above = f"040000 tree {actual_process.stdout.decode().strip()}\tfleet\n"
    result = subprocess.run(
        ["git", "mktree"], cwd=repository.top, input=above.encode(), capture_output=True, check=True
    )
    commit = repository.git("commit-tree", result.stdout.decode().strip(), "-m", "planted").strip()
    repository.git("update-ref", "refs/heads/main", commit)
    repository.git("reset", "--quiet", "--soft", commit)


@pytest.mark.parametrize("name", ["..", ".git", ".GIT"])
def test_a_name_that_leads_out_of_the_base_is_refused(repository: GitRepository, name: str) -> None:
    blob = repository.git("rev-parse", "HEAD:fleet/model_specs/sentences.yaml").strip()
    entry = f"100644 {name}".encode() + b"\0" + bytes.fromhex(blob)
    plant_tree(repository, entry)
    with (
        pytest.raises(CannotRunError, match="which Git does not write"),
        base_tree(repository.top / "fleet", "main"),
    ):
        pass


def test_no_file_is_written_through_a_link_of_the_base(repository: GitRepository, tmp_path: Path) -> None:
    """A tree may have a name twice: as a link, and as a folder with a file."""
    outside = tmp_path / "outside"
    outside.mkdir()
    blob = bytes.fromhex(repository.git("rev-parse", "HEAD:fleet/model_specs/sentences.yaml").strip())
    tree = bytes.fromhex(repository.git("rev-parse", "HEAD:fleet/model_specs").strip())
    command = ["git", "hash-object", "-w", "--stdin"]
    process = subprocess.run(
        command, cwd=repository.top, input=str(outside).encode(), capture_output=True, check=True
    )
    link = bytes.fromhex(process.stdout.decode().strip())
    plant_tree(repository, b"120000 x\0" + link + b"40000 x\0" + tree + b"100644 y\0" + blob)
    with (
        pytest.raises(CannotRunError, match="cannot be written"),
        base_tree(repository.top / "fleet", "main"),
    ):
        pass
    assert list(outside.iterdir()) == []


def test_more_than_a_fleet_can_have_is_not_read(
    repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("triton_fleet.review.base_tree.MAX_BYTES", 10)
    with (
        pytest.raises(CannotRunError, match="more than 10 B"),
        base_tree(repository.top / "fleet", "main"),
    ):
        pass
