"""Nothing that a folder of others holds for Git is run, whichever command of ours has Git read it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.hostile_git import ATTRIBUTES, SETTINGS, Marks, write_bare
from triton_fleet.check.run import all_findings
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.git.files import History
from triton_fleet.git.work_tree import work_tree
from triton_fleet.printers.formats import Format, print_findings
from triton_fleet.project.project import Fleet, open_project
from triton_fleet.review.base_tree import base_tree, check_out
from triton_fleet.review.fleet_review import fleet_review
from triton_fleet.selection.selector import Selector
from triton_fleet.store.lock import write_locks

SPEC = "model_specs/sentences.yaml"
SHORT = {"core.fsmonitor", "core.hooksPath", "diff.external", "filter.clean"}
EACH_SETTING = [
    pytest.param(setting, marks=() if setting in SHORT else pytest.mark.nightly, id=setting)
    for setting in SETTINGS
]


def check(root: Path) -> None:
    all_findings(open_project(root, "dev"))


def lock(root: Path) -> None:
    write_locks(open_project(root, "dev"))


def check_modification(root: Path) -> None:
    Selector(Fleet(root), "dev").select(["changed:main"])


def check_deletion(root: Path) -> None:
    Selector(Fleet(root), "dev").select(["gone.yaml"])


def report(root: Path) -> None:
    fleet_review(root, "main", ["dev"], date(2026, 1, 1))


def base(root: Path) -> None:
    with base_tree(root, "main") as result:
        assert (result.root / SPEC).is_file()
        check_out(result, ["repository"])


def history(root: Path) -> None:
    actual_history, files = History(root), [root / SPEC, root / "locks/dev/sentences.lock.yaml"]
    assert actual_history.content(actual_history.commit("main"), files[0])
    assert list(actual_history.commits(files))


def sarif(root: Path) -> None:
    print_findings([], Format.SARIF, root)


COMMANDS: tuple[Callable[[Path], None], ...] = (
    check,
    lock,
    check_modification,
    check_deletion,
    report,
    base,
    history,
    sarif,
)


@pytest.fixture
def fleet(tmp_path: Path) -> FleetFolder:
    """A fleet below the top of its clone, with weights that Git ignores and the clone lacks."""
    folder = FleetFolder(tmp_path / "top" / "fleet")
    folder.spec()
    folder.environment()
    folder.write(".gitignore", "*.bin\n")
    folder.write(".gitattributes", ATTRIBUTES)
    folder.write("repository/embed/1/weights.bin", "x" * 1000)
    folder.lock()
    GitRepository.around(tmp_path / "top")
    (folder.root / "repository/embed/1/weights.bin").unlink()
    return folder


def add_submodule(fleet: FleetFolder, origin: Path) -> None:
    """Replace the model repository by a submodule with the same content, and commit that."""
    shutil.copytree(fleet.root / "repository", origin)
    (origin / ".gitattributes").write_text(ATTRIBUTES)
    GitRepository.around(origin)
    repository = GitRepository(fleet.root.parent)
    repository.git("rm", "-r", "--quiet", "fleet/repository")
    options = ("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", "--force")
    repository.git(*options, str(origin), "fleet/repository")
    repository.commit()


def run_readers(root: Path, marks: Marks) -> Iterator[str]:
    """The programs that each command has run; it may fail, as long as that is a message."""
    for command in COMMANDS:
        for file in (root / SPEC, root / "repository/embed/config.pbtxt"):
            os.utime(file)  # so that Git compares the content
        with suppress(FindingsError, CannotRunError):
            command(root)
        yield from (f"{command.__name__}: {line}" for line in marks.mark_names)


@pytest.mark.parametrize("setting", EACH_SETTING)
def test_the_settings_and_hooks_of_a_clone_run_nothing(
    fleet: FleetFolder, marks_folder: Marks, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    marks_folder.write(fleet.root.parent / ".git", setting)
    assert list(run_readers(fleet.root, marks_folder)) == []


@pytest.mark.parametrize("setting", EACH_SETTING)
def test_a_model_repository_that_git_takes_for_its_own_runs_nothing(
    fleet: FleetFolder, marks_folder: Marks, setting: str
) -> None:
    write_bare(fleet.root / "repository", marks_folder, setting)
    assert list(run_readers(fleet.root, marks_folder)) == []


@pytest.mark.parametrize("setting", EACH_SETTING)
def test_a_fleet_that_git_takes_for_its_own_folder_runs_nothing(
    fleet: FleetFolder, marks_folder: Marks, setting: str
) -> None:
    write_bare(fleet.root, marks_folder, setting, objects=fleet.root.parent / ".git/objects")
    head = subprocess.check_output(["git", "-C", str(fleet.root.parent), "rev-parse", "HEAD"], text=True)
    FleetFolder(fleet.root).write("refs/heads/main", head)
    assert list(run_readers(fleet.root, marks_folder)) == []


@pytest.mark.parametrize("setting", EACH_SETTING)
def test_a_submodule_runs_nothing(
    fleet: FleetFolder, marks_folder: Marks, tmp_path: Path, setting: str
) -> None:
    add_submodule(fleet, tmp_path / "other")
    git = fleet.root.parent / ".git/modules/fleet/repository"
    marks_folder.write(git, setting, core=f"worktree = {fleet.root / 'repository'}\n")
    assert list(run_readers(fleet.root, marks_folder)) == []


@pytest.mark.parametrize("setting", ["core.fsmonitor", "filter.clean", "include.path", "core.hooksPath"])
def test_git_itself_runs_them(fleet: FleetFolder, marks_folder: Marks, setting: str) -> None:
    """So that the tests above show something."""
    marks_folder.write(fleet.root.parent / ".git", setting)
    os.utime(fleet.root / SPEC)
    subprocess.run(["git", "-C", str(fleet.root), "status"], capture_output=True, check=False)
    assert marks_folder.mark_names


def test_git_itself_runs_what_a_bare_repository_names(fleet: FleetFolder, marks_folder: Marks) -> None:
    write_bare(fleet.root / "repository", marks_folder)
    command = ["git", "-C", str(fleet.root / "repository"), "check-ignore", "embed/1/weights.bin"]
    subprocess.run(command, capture_output=True, check=False)
    assert marks_folder.mark_names


def test_a_folder_in_a_bare_repository_alone_is_in_no_work_tree(tmp_path: Path, marks_folder: Marks) -> None:
    (tmp_path / "alone").mkdir()
    write_bare(tmp_path / "alone", marks_folder)
    assert work_tree(tmp_path / "alone") is None
    assert marks_folder.mark_names == []


@pytest.mark.parametrize("content", [None, "gitdir: nowhere\n"])
def test_an_entry_that_git_does_not_take_hides_no_clone(fleet: FleetFolder, content: str | None) -> None:
    entry = fleet.root / ".git"
    if content is None:
        entry.mkdir()
    else:
        entry.write_text(content)
    tree = work_tree(fleet.root)
    assert tree is not None
    assert tree.top == fleet.root.parent


def test_what_a_submodule_changed_counts_as_the_submodule(fleet: FleetFolder, tmp_path: Path) -> None:
    add_submodule(fleet, tmp_path / "other")
    assert Selector(Fleet(fleet.root), "dev").select(["changed:HEAD"]).endpoints == []
    fleet.write("repository/embed/1/model.py", "class TritonPythonModel: x = 3\n")
    assert Selector(Fleet(fleet.root), "dev").select(["changed:HEAD"]).endpoints == ["sentences"]


def test_the_upstream_of_a_branch_is_a_reference(fleet: FleetFolder, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    GitRepository(fleet.root.parent).git("clone", "--quiet", str(fleet.root.parent), str(clone))
    for reference in ("changed:@{upstream}", "changed:origin/main", "changed:HEAD@{0}"):
        assert Selector(Fleet(clone / "fleet"), "dev").select([reference]).endpoints == []


@pytest.mark.parametrize("options", [("--object-format=sha256",), ("--ref-format=reftable",)])
def test_clones_of_another_format_are_read(tmp_path: Path, options: tuple[str, ...]) -> None:
    folder = FleetFolder(tmp_path / "fleet")
    folder.spec()
    folder.environment()
    folder.lock()
    repository = GitRepository(folder.root)
    try:
        repository.git("init", "--quiet", *options)
    except subprocess.CalledProcessError:
        pytest.skip(f"this Git does not have {options[0]}")
    repository.commit()
    linked_folder = tmp_path / "linked"
    repository.git("worktree", "add", "--quiet", str(linked_folder), "-b", "work")
    for root in (folder.root, linked_folder):
        folder.write("model_specs/sentences.yaml", (root / SPEC).read_text())
        (root / "repository/embed/1/model.py").write_text("class TritonPythonModel: x = 4\n")
        assert Selector(Fleet(root), "dev").select(["changed:main"]).endpoints == ["sentences"]
        with base_tree(root, "main") as result:
            assert (result.root / SPEC).is_file()
