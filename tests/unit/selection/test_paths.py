"""Files and folders as selectors, as `git diff --name-only` prints them: existing or deleted, from any folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.selections import refusal, selection
from triton_fleet.project.project import Fleet
from triton_fleet.selection.selector import Selector

ENDPOINT_NAMES = ["bert-large", "bert-small", "resnet", "zoo"]


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("model_specs/zoo.yaml", ["zoo"]),
        ("./model_specs/../model_specs/zoo.yaml", ["zoo"]),
        ("model_specs/search/bert-large.yaml", ["bert-large"]),
        ("model_specs/search/_folder.yaml", ["bert-large", "bert-small"]),
        ("model_specs/_folder.yaml", ENDPOINT_NAMES),
        ("model_specs/search", ["bert-large", "bert-small"]),
        ("model_specs", ENDPOINT_NAMES),
        (".", ENDPOINT_NAMES),
        ("profiles/small.yaml", ["bert-small"]),
        ("profiles/tiny.yaml", ["bert-small"]),
        ("profiles", ["bert-small"]),
        ("locks/dev/zoo.lock.yaml", ["zoo"]),
        ("locks/dev", ["zoo"]),
        ("locks", ["zoo"]),
        ("policies", ENDPOINT_NAMES),
        ("environments", ENDPOINT_NAMES),
        ("environments/dev.yaml", ENDPOINT_NAMES),
        ("policies/cost.yaml", ENDPOINT_NAMES),
        ("prices.yaml", ENDPOINT_NAMES),
        ("models/resnet/net/config.pbtxt", ["resnet"]),
        ("models/resnet/net/1/model.py", ["resnet"]),
        ("models/resnet", ["resnet"]),
        ("models", ENDPOINT_NAMES),
    ],
)
def test_a_path_selects_the_endpoints_that_it_is_a_part_of(
    fleet: FleetFolder, path: str, names: list[str]
) -> None:
    policies = ("policies/cost.yaml", "policies/teams/search.yaml")
    for file in ("model_specs/search/_folder.yaml", "model_specs/_folder.yaml", *policies):
        fleet.write(file, "logs: {}\n")
    fleet.write("locks/dev/zoo.lock.yaml", "endpoint: zoo\n")
    fleet.write("prices.yaml", "date: 2026-11-01\n")
    actual_selection = selection(fleet, path)
    assert (actual_selection.endpoints, actual_selection.former_names, actual_selection.drafts) == (
        names,
        [],
        [],
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("README.md", "README.md: no endpoint in dev uses it"),
        ("environments/prod.yaml", "it is not the environment 'dev'; pass `--env prod` for it"),
        ("locks/prod/zoo.lock.yaml", "it belongs to the environment 'prod'"),
        ("profiles/unused.yaml", "no endpoint in dev uses it"),
        ("model_specs/.hidden.yaml", "no endpoint in dev uses it"),
        (".github/workflows/ci.yaml", "no endpoint in dev uses it"),
        ("drafts/bert.yaml", "no endpoint in dev uses it"),
    ],
)
def test_any_other_file_of_the_repository_selects_nothing_and_is_no_mistake(
    fleet: FleetFolder, path: str, reason: str
) -> None:
    for file in ("locks/prod/zoo.lock.yaml", "profiles/unused.yaml", "model_specs/.hidden.yaml"):
        fleet.write(file, "logs: {}\n")
    fleet.write(".github/workflows/ci.yaml", "on: push\n")
    fleet.write("drafts/bert.yaml", "endpoint: bert\n")
    actual_selection = selection(fleet, path)
    assert actual_selection.endpoints == []
    assert actual_selection.reasons[0].endswith(reason)
    assert selection(fleet, path, "zoo").endpoints == ["zoo"]


@pytest.mark.parametrize("path", ["/etc/hostname", "/etc/nothing.yaml", "empty", "model_specs/zo.yaml"])
def test_what_cannot_be_in_a_diff_is_refused(fleet: FleetFolder, path: str) -> None:
    (fleet.root / "empty").mkdir()
    assert refusal(fleet, path).code in ("FL120", "FL126")
    assert refusal(fleet, path).hint


def test_files_of_engines_and_images_and_links_to_a_repository_are_parts_of_endpoints(
    fleet: FleetFolder,
) -> None:
    fleet.write(
        "model_specs/own.yaml",
        """\
        endpoint: own
        triton: "25.04"
        instance: {type: ml.g5.xlarge}
        image: {build: ../images/own}
        models:
          - archive: own
            repository: ../linked
            engines: [{model: net, onnx: ../onnx/net.onnx, precision: fp16, shapes: {x: [1x1, 1x1, 1x1]}}]
        """,
    )
    (fleet.root / "linked").symlink_to("models/zoo")
    for file in ("images/own/Dockerfile", "onnx/net.onnx"):
        assert selection(fleet, str(fleet.write(file, ""))).endpoints == ["own"]
    assert selection(fleet, "models/zoo/net/config.pbtxt").endpoints == ["own", "zoo"]
    assert selection(fleet, "linked").endpoints == ["own", "zoo"]


def test_a_folder_with_policies_below_it_alone_selects_all(fleet: FleetFolder) -> None:
    fleet.write("policies/teams/search.yaml", "limits: []\n")
    assert selection(fleet, "policies").endpoints == ENDPOINT_NAMES


def test_a_folder_with_specs_and_models_selects_the_endpoints_of_both(fleet: FleetFolder) -> None:
    shutil.copytree(fleet.root / "models/zoo", fleet.root / "model_specs/search/zoo")
    spec = fleet.root / "model_specs/zoo.yaml"
    spec.write_text(spec.read_text().replace("../models/zoo", "search/zoo"))
    assert selection(fleet, "model_specs/search").endpoints == ["bert-large", "bert-small", "zoo"]


def test_a_folder_of_specs_alone_reads_no_other_spec(fleet: FleetFolder) -> None:
    fleet.write("model_specs/zoo.yaml", "{")
    assert selection(fleet, "model_specs/search").endpoints == ["bert-large", "bert-small"]


def test_an_endpoint_whose_spec_cannot_be_read_may_be_made_from_any_file(fleet: FleetFolder) -> None:
    fleet.write("model_specs/zoo.yaml", "endpoint: zoo\n")
    assert selection(fleet, "models/resnet/net/1/model.py").endpoints == ["resnet", "zoo"]
    assert selection(fleet, "model_specs/vision/resnet.yaml").endpoints == ["resnet"]


def test_specs_elsewhere_are_drafts_where_a_command_takes_them(fleet: FleetFolder, tmp_path: Path) -> None:
    inside = fleet.write("drafts/bert.yaml", "endpoint: bert\n")
    fleet.write("drafts/values.yaml", "replicas: 3\n")
    outside = tmp_path / "any.yaml"
    outside.write_text("{")
    assert selection(fleet, "drafts/bert.yaml", str(outside), drafts=True).drafts == [inside, outside]
    assert selection(fleet, "drafts", drafts=True).drafts == [inside]
    assert refusal(fleet, str(outside)).code == "FL126"


@pytest.mark.parametrize("path", ["model_specs", "model_specs/search", "."])
def test_hidden_files_and_folders_of_the_fleet_have_no_drafts(fleet: FleetFolder, path: str) -> None:
    for file in (".x.yaml", "search/.x.yaml", ".dir/y.yaml", "search/.dir/sub/y.yaml"):
        fleet.write(f"model_specs/{file}", "endpoint: y\n")
    actual_selection = selection(fleet, path, drafts=True)
    assert (actual_selection.drafts, actual_selection.former_names) == ([], [])
    assert actual_selection.endpoints == (
        ["bert-large", "bert-small"] if path.endswith("search") else ENDPOINT_NAMES
    )


class TestRepositories:
    def test_a_fleet_below_the_top_takes_paths_from_the_top_and_from_the_working_directory(
        self, fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        GitRepository.around(fleet.root.parent)
        monkeypatch.chdir(fleet.root / "models")
        for path in (
            "fleet/models/zoo/net/config.pbtxt",
            "zoo/net/config.pbtxt",
            "models/zoo/net/config.pbtxt",
        ):
            assert selection(fleet, path).endpoints == ["zoo"]
        (fleet.root / "models/zoo/net/config.pbtxt").unlink()
        for path in (
            "fleet/models/zoo/net/config.pbtxt",
            "zoo/net/config.pbtxt",
            "models/zoo/net/config.pbtxt",
        ):
            assert selection(fleet, path).endpoints == ["zoo"]

    def test_a_spec_in_another_folder_is_the_same_endpoint(
        self, fleet: FleetFolder, repository: GitRepository
    ) -> None:
        repository.git("mv", "model_specs/search/bert-large.yaml", "model_specs/vision/bert-large.yaml")
        for path in ("search", "vision"):
            assert selection(fleet, f"model_specs/{path}/bert-large.yaml").endpoints == ["bert-large"]

    def test_paths_are_read_as_git_quotes_them(self, fleet: FleetFolder, repository: GitRepository) -> None:
        fleet.write('models/zoo/net/1/modèle "a".py', "")
        repository.git("add", "--all")
        (path,) = repository.diff()
        assert path.startswith('"')
        assert selection(fleet, path).endpoints == ["zoo"]

    def test_brackets_and_commas_may_be_parts_of_paths(
        self, fleet: FleetFolder, repository: GitRepository
    ) -> None:
        file = fleet.write("models/zoo/net/1/[a],b=c.py", "")
        repository.commit()
        assert selection(fleet, "models/zoo/net/1/[a],b=c.py").endpoints == ["zoo"]
        file.unlink()
        assert selection(fleet, "models/zoo/net/1/[a],b=c.py").endpoints == ["zoo"]


def test_a_folder_of_specs_that_the_environment_takes_otherwise_is_a_note_as_each_of_its_files_is(
    fleet: FleetFolder,
) -> None:
    fleet.environment("promoted_from: dev\n", name="prod")
    selection = Selector(Fleet(fleet.root), "prod").select(["model_specs/search"])
    assert (selection.endpoints, len(selection.reasons)) == ([], 2)
    assert selection.reasons[0] == "model_specs/search/bert-large.yaml: prod gets it by `fleet promote`"
