"""`changed:REF`: the endpoints that a branch changes, by Git's own word and never by a shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.git.files import contains
from triton_fleet.project.project import Fleet
from triton_fleet.selection.paths import Selection
from triton_fleet.selection.selector import Selector


def changed_selection(root: Path, selector: str = "changed:main") -> Selection:
    return Selector(Fleet(root), "dev").select([selector])


def problem(root: Path, selector: str) -> CannotRunError:
    with pytest.raises(CannotRunError) as refusal:
        changed_selection(root, selector)
    return refusal.value


def test_commits_the_index_the_work_tree_and_new_files_count_alike(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    repository.branch()
    fleet.write("models/zoo/net/1/model.py", "class TritonPythonModel: x = 2\n")
    repository.commit()
    assert changed_selection(fleet.root).endpoints == ["zoo"]
    fleet.write("profiles/tiny.yaml", "instance: {type: ml.g5.2xlarge}\n")
    repository.git("add", "--all")
    fleet.write("models/resnet/net/2/model.py", "")
    assert sorted(changed_selection(fleet.root).endpoints) == ["bert-small", "resnet", "zoo"]


def test_what_main_changed_meanwhile_does_not_count(fleet: FleetFolder, repository: GitRepository) -> None:
    repository.branch()
    fleet.write("models/zoo/net/1/model.py", "")
    repository.commit()
    repository.git("checkout", "--quiet", "main")
    fleet.write("models/resnet/net/1/model.py", "")
    repository.commit()
    repository.git("checkout", "--quiet", "work")
    assert changed_selection(fleet.root).endpoints == ["zoo"]
    assert changed_selection(fleet.root, "changed:main,endpoint!=zoo").endpoints == []


def test_ignored_files_do_not_count(fleet: FleetFolder, repository: GitRepository) -> None:
    fleet.write(".gitignore", "*.onnx\n")
    fleet.write("models/zoo/net/1/model.onnx", "")
    assert changed_selection(fleet.root).endpoints == []
    assert repository.top == fleet.root


def test_nothing_changed_is_no_mistake_and_never_all_endpoints(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    for selector in ("changed:main", "changed:HEAD", "changed:main,owner=search"):
        selection = changed_selection(fleet.root, selector)
        assert (selection.endpoints, selection.former_names, len(selection.reasons)) == ([], [], 1)
    assert repository.top == fleet.root


def test_a_renamed_spec_is_a_new_endpoint_and_one_that_is_gone(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    repository.git("mv", "model_specs/zoo.yaml", "model_specs/animals.yaml")
    selection = changed_selection(fleet.root)
    assert (selection.endpoints, selection.former_names) == (["animals"], ["zoo"])


def test_names_of_files_are_taken_as_they_are(fleet: FleetFolder, repository: GitRepository) -> None:
    for name in ("a b", 'q"uote', "line\nbreak", "-option", "ünïcode", "$(touch owned)", "[a]*"):
        fleet.write(f"models/zoo/net/{name}", "")
    repository.branch()
    assert changed_selection(fleet.root).endpoints == ["zoo"]
    repository.commit()
    assert changed_selection(fleet.root).endpoints == ["zoo"]
    assert not (fleet.root / "owned").exists()


def test_a_fleet_below_the_top_counts_what_is_above_it(
    fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = fleet.root / "model_specs/zoo.yaml"
    spec.write_text(spec.read_text().replace("../models/zoo", "../../shared"))
    fleet.write("../shared/net/config.pbtxt", 'backend: "python"\n')
    repository = GitRepository.around(fleet.root.parent)
    monkeypatch.chdir(fleet.root / "models")
    fleet.write("../shared/net/config.pbtxt", 'backend: "onnxruntime"\n')
    fleet.write("models/resnet/net/config.pbtxt", "")
    repository.branch()
    assert sorted(changed_selection(fleet.root).endpoints) == ["resnet", "zoo"]


@pytest.mark.parametrize(
    "reference",
    [
        "nowhere",
        "--output=owned",
        "-h",
        "$(touch owned)",
        "a\nb",
        "\0",
        "x" * 10_000,
        "main..HEAD",
        "main:README.md",
        ":/x",
    ],
)
def test_what_is_no_commit_cannot_be_compared_with(
    fleet: FleetFolder, repository: GitRepository, reference: str
) -> None:
    error = problem(fleet.root, f"changed:{reference}")
    assert error.problem.startswith("git knows no commit")
    assert error.remedy
    assert len(error.problem) < 600
    assert not (repository.top / "owned").exists()


def test_a_branch_of_the_remote_is_named(
    fleet: FleetFolder, repository: GitRepository, tmp_path: Path
) -> None:
    repository.branch("release")
    repository.git("checkout", "--quiet", "main")
    clone = tmp_path / "clone"
    repository.git("clone", "--quiet", str(fleet.root), str(clone))
    assert problem(clone, "changed:release").remedy == "write origin/release"
    assert changed_selection(clone, "changed:origin/release").endpoints == []


def test_a_shallow_clone_is_told_to_fetch_its_history(
    fleet: FleetFolder, repository: GitRepository, tmp_path: Path
) -> None:
    repository.branch()
    fleet.write("models/zoo/net/1/model.py", "")
    repository.commit()
    shallow = tmp_path / "shallow"
    options = ("--quiet", "--depth=1", "--no-single-branch")
    repository.git("clone", *options, f"file://{fleet.root}", str(shallow))
    for reference in ("origin/main", "HEAD~1"):
        assert "fetch-depth: 0" in problem(shallow, f"changed:{reference}").remedy


def test_branches_without_a_common_commit_cannot_be_compared(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    repository.git("checkout", "--quiet", "--orphan", "other")
    fleet.write("README.md", "Another fleet.\n")
    repository.commit()
    assert "no commit in common" in problem(fleet.root, "changed:main").problem


def test_without_a_repository_or_without_git_it_says_so(
    fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "not in a Git work tree" in problem(fleet.root, "changed:main").problem
    monkeypatch.setenv("PATH", "")
    assert problem(fleet.root, "changed:main").problem == "git is not installed"


@pytest.mark.parametrize("selector", ["changed:main", "models/zoo", "models/nothing", "profiles/gone.yaml"])
def test_where_git_refuses_to_answer_nothing_is_guessed(
    fleet: FleetFolder, repository: GitRepository, monkeypatch: pytest.MonkeyPatch, selector: str
) -> None:
    """As in a container whose user does not own the clone."""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    error = problem(fleet.root, selector)
    assert error.problem.startswith(f"git cannot read {fleet.root}: detected dubious ownership")
    assert error.remedy == f"run `git config --global --add safe.directory {repository.top}`"
    assert (
        changed_selection(fleet.root, "zoo").endpoints
        == changed_selection(fleet.root, "z*").endpoints
        == ["zoo"]
    )


def test_a_command_that_takes_no_files_takes_no_changes(fleet: FleetFolder) -> None:
    for argument in ("changed:main", "model_specs/zoo.yaml", "."):
        with pytest.raises(FindingsError):
            Selector(Fleet(fleet.root), "dev", files=False).select([argument])


HOOK = f"""\
#!{sys.executable}
import sys
sys.path[:] = {sys.path!r}
from pathlib import Path
from triton_fleet.selection.selector import Selector
from triton_fleet.project.project import Fleet
fleet = Path({{fleet!r}}).resolve()
print(*Selector(Fleet(fleet), "dev").select(["changed:HEAD"]).endpoints, file=sys.stderr)
sys.exit(1)
"""


@pytest.mark.parametrize("below", ["", "serving/fleet"])
def test_in_a_hook_of_a_linked_worktree_what_is_staged_counts(
    fleet: FleetFolder, tmp_path: Path, below: str
) -> None:
    """There Git sets GIT_DIR, for which every folder is the top of the work tree."""
    top = tmp_path / "top"
    (top / below).parent.mkdir(parents=True, exist_ok=True)
    fleet.root.rename(top / below)
    repository = GitRepository.around(top)
    linked_repository = GitRepository(tmp_path / "linked")
    repository.git("worktree", "add", "--quiet", str(linked_repository.top))
    hook = top / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK.format(fleet=below or "."))
    hook.chmod(0o755)
    spec = linked_repository.top / below / "model_specs/zoo.yaml"
    spec.write_text(spec.read_text().replace("26.01", "25.04"))
    linked_repository.git("add", "--all")
    with pytest.raises(subprocess.CalledProcessError) as refusal:
        linked_repository.git("commit", "--message", "change")
    assert refusal.value.stderr.split() == ["zoo"]


def test_a_clone_contains_its_commits_and_not_those_of_others_or_no_commits(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    first = repository.git("rev-parse", "HEAD").strip()
    repository.branch("other")
    repository.commit()
    second = repository.git("rev-parse", "HEAD").strip()
    assert contains(fleet.root, first)
    assert contains(fleet.root, second)
    repository.git("checkout", "--quiet", "main")
    assert not contains(fleet.root, second)
    assert not contains(fleet.root, "--all")
    assert not contains(fleet.root, "f" * 40)
