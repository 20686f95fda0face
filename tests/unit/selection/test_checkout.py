"""The checkout of a deploy: the commit, and the files of its endpoints that differ from it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from triton_fleet.project.project import open_project
from triton_fleet.selection.checkout import Checkout, checkout


def of(fleet: FleetFolder, *endpoints: str, is_locked: bool = False) -> Checkout:
    return checkout(open_project(fleet.root, "dev", endpoints), locked=is_locked)


def dirty(fleet: FleetFolder, *endpoints: str, is_locked: bool = False) -> list[str]:
    top = fleet.root.resolve()
    return [str(name.relative_to(top)) for name in of(fleet, *endpoints, is_locked=is_locked).uncommitted]


def test_a_clean_tree_has_its_commit_and_no_files(fleet: FleetFolder, repository: GitRepository) -> None:
    assert of(fleet) == Checkout(commit=repository.git("rev-parse", "HEAD").strip())


@pytest.mark.parametrize(
    "file",
    [
        "model_specs/zoo.yaml",
        "models/zoo/net/1/model.py",
        "models/zoo/net/2/model.py",
        "locks/dev/zoo.lock.yaml",
        "environments/dev.yaml",
        "policies/limits.yaml",
        "cdk.json",
    ],
)
def test_a_file_that_an_endpoint_reads_counts_whether_changed_or_new(
    fleet: FleetFolder, repository: GitRepository, file: str
) -> None:
    path = fleet.root / file
    text = path.read_text() if path.exists() else ""
    fleet.write(file, f"{text}# another line\n")
    assert dirty(fleet, "zoo") == [file]
    repository.git("add", "--all")
    assert dirty(fleet, "zoo") == [file]
    repository.commit()
    assert dirty(fleet, "zoo") == []


def test_a_file_that_was_deleted_counts(fleet: FleetFolder, repository: GitRepository) -> None:
    (fleet.root / "models/zoo/net/1/model.py").unlink()
    assert dirty(fleet) == ["models/zoo/net/1/model.py"]


@pytest.mark.parametrize(
    "file",
    [
        "README.md",
        "notes.yaml",
        "environments/prod.yaml",
        "locks/prod/zoo.lock.yaml",
        "models/resnet/net/1/model.py",
        "model_specs/vision/resnet.yaml",
    ],
)
def test_what_the_deployed_endpoints_do_not_read_does_not_count(
    fleet: FleetFolder, repository: GitRepository, file: str
) -> None:
    path = fleet.root / file
    fleet.write(file, f"{path.read_text() if path.exists() else ''}# another line\n")
    assert dirty(fleet, "zoo") == []


def test_a_profile_counts_for_the_endpoints_that_it_reaches(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    fleet.write("profiles/tiny.yaml", "instance: {type: ml.g5.2xlarge}\n")
    assert dirty(fleet, "bert-small") == ["profiles/tiny.yaml"]
    assert dirty(fleet, "bert-large", "zoo") == []


def test_only_the_endpoints_that_read_a_file_differ_by_it(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    fleet.write("profiles/tiny.yaml", "instance: {type: ml.g5.2xlarge}\n")
    assert {name: of(fleet).differs(name) for name in ("bert-small", "zoo")} == {
        "bert-small": True,
        "zoo": False,
    }
    fleet.environment("tags: {stage: other}\n")
    assert of(fleet).differs("zoo")


def test_a_locked_deploy_reads_no_repositories(fleet: FleetFolder, repository: GitRepository) -> None:
    fleet.write("models/zoo/net/1/model.py", "class TritonPythonModel: x = 2\n")
    fleet.write("locks/dev/zoo.lock.yaml", "")
    assert dirty(fleet, "zoo", is_locked=True) == ["locks/dev/zoo.lock.yaml"]


def test_foundation_alone_reads_the_file_of_the_environment(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    fleet.write("model_specs/zoo.yaml", f"{(fleet.root / 'model_specs/zoo.yaml').read_text()}# new\n")
    fleet.environment("tags: {stage: other}\n")
    project = replace(open_project(fleet.root, "dev"), endpoints=())
    files = checkout(project, locked=False).uncommitted
    assert [file.name for file in files] == ["dev.yaml"]


def test_ignored_files_such_as_weights_do_not_count(fleet: FleetFolder, repository: GitRepository) -> None:
    fleet.write(".gitignore", "*.onnx\n")
    fleet.write("models/zoo/net/1/model.onnx", "weights")
    assert dirty(fleet, "zoo") == []


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_an_edit_that_git_is_set_up_to_overlook_counts(
    fleet: FleetFolder, repository: GitRepository, flag: str
) -> None:
    for file in ("model_specs/zoo.yaml", "models/zoo/net/1/model.py", "policies/limits.yaml"):
        fleet.write(file, (fleet.root / file).read_text() if (fleet.root / file).exists() else "policy: x\n")
    repository.commit()
    for file in repository.git("ls-files").split():
        repository.git("update-index", flag, file)
    assert dirty(fleet, "zoo") == []
    fleet.write("model_specs/zoo.yaml", f"{(fleet.root / 'model_specs/zoo.yaml').read_text()}# edit\n")
    fleet.write("models/zoo/net/1/model.py", "class TritonPythonModel: x = 2\n")
    (fleet.root / "policies/limits.yaml").unlink()
    assert dirty(fleet, "zoo") == [
        "model_specs/zoo.yaml",
        "models/zoo/net/1/model.py",
        "policies/limits.yaml",
    ]
    assert dirty(fleet, "zoo", is_locked=True) == ["model_specs/zoo.yaml", "policies/limits.yaml"]
    assert dirty(fleet, "resnet") == ["policies/limits.yaml"]


@pytest.mark.parametrize("place", [".gitignore", ".git/info/exclude"])
def test_ignored_files_that_decide_what_an_endpoint_runs_count(
    fleet: FleetFolder, repository: GitRepository, place: str
) -> None:
    (fleet.root / ".git/info").mkdir(exist_ok=True)
    files = {
        "cdk.json": "{}",
        "environments/dev.yaml": (fleet.root / "environments/dev.yaml").read_text(),
        "locks/dev/zoo.lock.yaml": "",
        "model_specs/_folder.yaml": "tags: {a: b}\n",
        "model_specs/zoo.yaml": f"profile: new\n{(fleet.root / 'model_specs/zoo.yaml').read_text()}",
        "policies/limits.yaml": "",
        "prices.yaml": "",
        "profiles/new.yaml": "tags: {c: d}\n",
    }
    repository.git("rm", "--quiet", "--cached", "--ignore-unmatch", *files)
    fleet.write(place, "".join(f"/{file}\n" for file in files))
    repository.commit()
    for file, text in files.items():
        fleet.write(file, text)
    fleet.write("locks/dev/resnet.lock.yaml", "")
    assert dirty(fleet, "zoo") == sorted(files)


def test_outside_of_git_the_commit_is_unknown(fleet: FleetFolder) -> None:
    assert of(fleet) == Checkout()


def test_a_fleet_that_the_clone_around_it_ignores_is_of_no_commit(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    repository.git("rm", "--quiet", "-r", "--cached", ".")
    fleet.write(".gitignore", "*\n!.gitignore\n")
    repository.commit()
    assert of(fleet) == Checkout()


def test_before_the_first_commit_every_file_differs(fleet: FleetFolder) -> None:
    subprocess.run(["git", "init", "--quiet", str(fleet.root)], check=True)
    checkout = of(fleet, "zoo")
    assert checkout.commit is None
    assert Path("model_specs/zoo.yaml") in [
        name.relative_to(fleet.root.resolve()) for name in checkout.uncommitted
    ]


def test_a_clone_of_somebody_else_runs_none_of_its_programs(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    witness = fleet.root / "ran"
    repository.git("config", "core.fsmonitor", f"touch {witness}")
    repository.git("config", "filter.x.clean", f"touch {witness}; cat")
    fleet.write(".gitattributes", "* filter=x\n")
    fleet.write("models/zoo/net/1/model.py", "class TritonPythonModel: x = 2\n")
    assert dirty(fleet, "zoo") == ["models/zoo/net/1/model.py"]
    assert not witness.exists()
