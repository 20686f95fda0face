"""Files that no longer exist: one that a branch has selects what it would have."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.selections import refusal, selection
from triton_fleet.project.project import Fleet
from triton_fleet.selection.selector import Selector


def test_a_deleted_spec_is_no_mistake_and_its_endpoint_is_named(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    (fleet.root / "model_specs/zoo.yaml").unlink()
    for _ in ("in the work tree", "in a commit"):
        actual_selection = selection(fleet, *repository.diff("HEAD~0"), "model_specs/zoo.yaml")
        assert (actual_selection.endpoints, actual_selection.former_names) == ([], ["zoo"])
        repository.commit()


def test_a_deleted_link_selects_what_is_made_from_the_folder_that_it_led_to(fleet: FleetFolder) -> None:
    link = fleet.root / "link"
    link.symlink_to("models")
    spec = fleet.root / "model_specs/zoo.yaml"
    spec.write_text(spec.read_text().replace("../models/zoo", "../link/zoo"))
    repository = GitRepository.around(fleet.root)
    link.unlink()
    assert selection(fleet, "changed:HEAD").endpoints == ["zoo"]
    for _ in ("in the work tree", "in a commit"):
        assert selection(fleet, "link").endpoints == ["zoo"]
        repository.commit()


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("README.md", []),
        ("profiles/tiny.yaml", ["bert-small"]),
        ("models/resnet/net/1/model.py", ["resnet"]),
        ("environments/prod.yaml", []),
        ("LICENSE", []),
    ],
)
def test_any_other_deleted_file_selects_what_it_would_if_it_existed(
    fleet: FleetFolder, path: str, names: list[str]
) -> None:
    fleet.write("LICENSE", "")
    repository = GitRepository.around(fleet.root)
    (fleet.root / path).unlink()
    repository.commit()
    assert selection(fleet, path).endpoints == names


def test_a_file_that_only_a_fetched_commit_has_is_deleted_too(
    fleet: FleetFolder, repository: GitRepository, tmp_path: Path
) -> None:
    other_folder = tmp_path / "other"
    repository.git("clone", "--quiet", str(fleet.root), str(other_folder))
    fleet.write("model_specs/late.yaml", "endpoint: late\n")
    repository.commit()
    clone = GitRepository(other_folder)
    clone.git("fetch", "--quiet", str(fleet.root), "main")
    (path,) = clone.diff("FETCH_HEAD")
    assert Selector(Fleet(other_folder), "dev").select([str(other_folder / path)]).former_names == ["late"]


@pytest.mark.parametrize("path", ["model_specs/zo.yaml", "zoo.yaml", "models/resnt/config.pbtxt"])
def test_a_path_that_never_existed_is_a_mistake(
    fleet: FleetFolder, repository: GitRepository, path: str
) -> None:
    assert repository.top == fleet.root
    assert refusal(fleet, path).code == "FL120"


def test_a_file_that_only_older_commits_have_is_a_mistake(
    fleet: FleetFolder, repository: GitRepository
) -> None:
    (fleet.root / "model_specs/zoo.yaml").unlink()
    for _ in ("the deletion", "one more"):
        fleet.write("README.md", f"{_}\n")
        repository.commit()
    assert refusal(fleet, "model_specs/zoo.yaml").code == "FL120"
    assert selection(fleet, "changed:HEAD~2").former_names == ["zoo"]


def test_a_deleted_folder_is_a_mistake(fleet: FleetFolder, repository: GitRepository) -> None:
    shutil.rmtree(repository.top / "models/zoo")
    assert refusal(fleet, "models/zoo").code == "FL120"
    assert selection(fleet, "changed:HEAD").endpoints == ["zoo"]


def test_without_git_nobody_knows_a_path_that_does_not_exist(
    fleet: FleetFolder, repository: GitRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(repository.top / "models")
    monkeypatch.setenv("PATH", "")
    assert refusal(fleet, "models/zoo/net/1/model.py").code == "FL120"
