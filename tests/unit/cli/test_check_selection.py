"""Files that `fleet check` takes for endpoints, and which for model repositories."""

from __future__ import annotations

import json

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.typed_command import RunFleet


@pytest.mark.parametrize(
    ("words", "checked_text"),
    [
        (["owner=search"], "sentences"),
        (["im*", "owner=search"], "images, sentences"),
        (["model_specs/images.yaml", "README.md"], "images"),
        (["repository/embed/config.pbtxt"], "images, sentences"),
        (["repository/embed/1/model.py", "locks/dev/images.lock.yaml"], "images, sentences"),
    ],
)
def test_only_what_is_selected_is_checked(
    run_fleet: RunFleet, two: FleetFolder, words: list[str], checked_text: str
) -> None:
    two.write("README.md", "")
    result = run_fleet("check", "--env", "dev", *words)
    assert (result.code, result.out.strip(), result.err) == (0, f"dev: no findings in {checked_text}", "")


def test_a_configuration_with_options_of_its_own_is_checked_for_these(
    run_fleet: RunFleet, two: FleetFolder
) -> None:
    result = run_fleet("check", "--env", "dev", "--triton", "25.04", "repository/embed/config.pbtxt")
    assert result.out.strip() == "dev: no findings in repository/embed/config.pbtxt"


def test_files_that_concern_no_endpoint_check_the_environment_alone(
    run_fleet: RunFleet, two: FleetFolder
) -> None:
    two.write("README.md", "")
    result = run_fleet("check", "--env", "dev", "README.md")
    assert (result.code, result.out.strip()) == (0, "dev: no endpoint was checked")
    assert result.err == "dev: no endpoint is selected: README.md: no endpoint in dev uses it\n"


@pytest.mark.parametrize(
    ("environment", "key", "reason"),
    [
        ("", "environments: [prod]", "its `environments` has prod"),
        ("endpoints: []", "", "its `endpoints` do not include it"),
    ],
)
def test_an_environment_without_endpoints_says_what_leaves_the_specs_out(
    run_fleet: RunFleet, working_fleet: FleetFolder, environment: str, key: str, reason: str
) -> None:
    working_fleet.spec(name="images", base=SPEC.replace("sentences", "images"))
    working_fleet.write("model_specs/_folder.yaml", key)
    working_fleet.environment(environment)
    working_fleet.environment(name="prod", account=4)
    (working_fleet.root / "locks/dev/sentences.lock.yaml").unlink()
    result = run_fleet("check", "--env", "dev")
    text = f"dev: no findings in model_specs/, of whose specs dev has none: 'images' is not in dev: {reason}"
    assert result.out.strip() == f"{text}; 1 more"


def test_of_many_endpoints_without_findings_ten_are_named(
    run_fleet: RunFleet, working_fleet: FleetFolder
) -> None:
    for number in range(12):
        working_fleet.spec(name=f"n{number:02}", base=SPEC.replace("sentences", f"n{number:02}"))
    working_fleet.lock()
    names = ", ".join(f"n{number:02}" for number in range(10))
    assert run_fleet("check", "--env", "dev").out.strip() == f"dev: no findings in {names} and 3 more"


def test_an_endpoints_name_is_never_the_folder_of_that_name(run_fleet: RunFleet, two: FleetFolder) -> None:
    two.write("images/net/config.pbtxt", 'backend: "python"\n')
    assert run_fleet("check", "--env", "dev", "images").out.strip() == "dev: no findings in images"
    assert "FL404" in run_fleet("check", "--env", "dev", "./images").err
    assert "FL404" in run_fleet("check", "images").err


@pytest.mark.parametrize("path", ["locks", ".", "..", "repository", "locks/dev"])
def test_a_folder_of_the_fleet_selects_the_endpoints_that_are_made_from_it(
    run_fleet: RunFleet, two: FleetFolder, path: str
) -> None:
    result = run_fleet("check", "--env", "dev", path)
    assert (result.code, result.out.strip()) == (0, "dev: no findings in images, sentences")


def test_a_folder_from_which_no_endpoint_is_made_is_a_repository(
    run_fleet: RunFleet, two: FleetFolder
) -> None:
    two.write("other/net/config.pbtxt", 'backend: "python"\n')
    two.write("other/net/1/model.py", "class TritonPythonModel: x = 1\n")
    assert run_fleet("check", "--env", "dev", "other").out.strip() == "dev: no findings in other"


@pytest.mark.parametrize("path", ["other", "repository", "other/net/config.pbtxt"])
@pytest.mark.parametrize(("env", "code"), [("nosuch", "FL120"), ("broken", "FL111"), ("unreadable", "FL101")])
def test_a_repository_does_not_hide_that_the_environment_is_wrong(
    run_fleet: RunFleet, two: FleetFolder, path: str, env: str, code: str
) -> None:
    two.write("other/net/config.pbtxt", 'backend: "python"\n')
    two.write("other/net/1/model.py", "class TritonPythonModel: x = 1\n")
    two.write("environments/broken.yaml", "environment: broken\n")
    two.write("environments/unreadable.yaml", "{")
    result = run_fleet("check", "--env", env, path, "--format", "json")
    assert result.code == 1
    assert code in {finding["code"] for finding in json.loads(result.out)["findings"]}


@pytest.mark.parametrize("path", ["other", "other/net/config.pbtxt"])
def test_a_spec_that_cannot_be_read_leaves_repositories_checkable(
    run_fleet: RunFleet, two: FleetFolder, path: str
) -> None:
    two.write("other/net/config.pbtxt", 'backend: "python"\n')
    two.write("other/net/1/model.py", "class TritonPythonModel: x = 1\n")
    two.write("model_specs/images.yaml", "endpoint: images\n")
    assert run_fleet("check", "--env", "dev", path).out.strip() == f"dev: no findings in {path}"
    assert "FL111" in run_fleet("check", "--env", "dev", "repository").err


def test_an_empty_argument_is_refused(run_fleet: RunFleet, two: FleetFolder) -> None:
    result = run_fleet("check", "--env", "dev", "")
    assert result.code == 1
    assert "no endpoint was named" in result.err


def test_a_deleted_spec_leaves_what_else_is_wrong_without_it(run_fleet: RunFleet, two: FleetFolder) -> None:
    two.environment("overrides: {images: {instance: {count: 2}}}\n")
    (two.root / "model_specs/images.yaml").unlink()
    result = run_fleet("check", "--env", "dev", "model_specs/images.yaml")
    assert result.code == 1
    assert "images no longer has a spec: `fleet destroy --env dev images`" in result.err
    assert "`overrides` names an endpoint that has no spec" in result.err


def test_a_deleted_configuration_selects_its_endpoints(run_fleet: RunFleet, two: FleetFolder) -> None:
    (two.root / "repository/embed/config.pbtxt").unlink()
    result = run_fleet("check", "--env", "dev", "repository/embed/config.pbtxt", "--format", "json")
    assert result.code == 1
    (finding,) = json.loads(result.out)["findings"]
    assert (finding["code"], finding["endpoints"]) == ("FL306", ["images", "sentences"])


def test_a_selector_that_fits_nothing_is_a_finding(run_fleet: RunFleet, two: FleetFolder) -> None:
    result = run_fleet("check", "--env", "dev", "owner=sarch", "--format", "json")
    assert result.code == 1
    assert [finding["code"] for finding in json.loads(result.out)["findings"]] == ["FL506"]


def test_what_git_cannot_compare_ends_with_2(run_fleet: RunFleet, two: FleetFolder) -> None:
    result = run_fleet("check", "--env", "dev", "changed:nowhere")
    assert result.code == 2
    assert "cannot run: git knows no commit 'nowhere'" in result.err
