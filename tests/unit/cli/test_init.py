"""`fleet init` as a user meets it: the files of a new fleet, and their upgrade."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support.fleet_folder import ROOT
from tests.support.new_fleet import files, fleet_init, init
from tests.support.wheels import VERSION
from triton_fleet.cli.commands import app
from triton_fleet.endpoint.resolve import resolve_foundation
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.project.project import open_project

GENERATED_FILES = {
    ".gitattributes",
    ".gitignore",
    ".pre-commit-config.yaml",
    ".vscode/settings.json",
    "Makefile",
    "app.py",
    "cdk.json",
    "environments/environment.schema.json",
    "model_specs/endpoint.schema.json",
    "model_specs/partial.schema.json",
    "package-lock.json",
    "package.json",
    "policies/policy.schema.json",
    "requirements.txt",
    "vendor/dependencies.txt",
    "vendor/local.txt",
    *(
        f"vendor/{stem}-{VERSION}-py3-none-any.whl"
        for stem in ("triton_fleet", "triton_endpoints", "triton_fleet_client", "triton_fleet_emulator")
    ),
}


def test_a_new_fleet_has_all_that_make_and_the_cdk_need(initial_fleet: Path) -> None:
    environments = {f"environments/{name}.yaml" for name in ("dev", "staging", "prod", "local")}
    assert files(initial_fleet) == GENERATED_FILES | environments | {"README.md", "policies/platform.yaml"}


def test_each_environment_is_read_with_the_account_and_the_region_that_were_given(tmp_path: Path) -> None:
    options = ("--account", "123456789012", "--region", "eu-west-1", "--environments", "test,live")
    assert init(tmp_path / "fleet", *options).exit_code == 0
    places = [
        resolve_foundation(open_project(tmp_path / "fleet", name)).deployment for name in ("test", "live")
    ]
    assert [(deployment.environment, deployment.account, deployment.region) for deployment in places] == [
        ("test", "123456789012", "eu-west-1"),
        ("live", "123456789012", "eu-west-1"),
    ]


def test_account_and_region_are_those_of_each_environment(tmp_path: Path) -> None:
    assert init(tmp_path / "fleet", "--account", "123456789012", "--region", "eu-west-1").exit_code == 0
    place = resolve_foundation(open_project(tmp_path / "fleet", "prod")).deployment
    assert (place.account, place.region) == ("123456789012", "eu-west-1")


def test_without_an_account_it_writes_an_example_and_asks_for_yours(tmp_path: Path) -> None:
    result = init(tmp_path / "fleet")
    text = (tmp_path / "fleet/environments/prod.yaml").read_text()
    assert 'account: "111122223333"                  # yours: aws sts get-caller-identity\n' in text
    assert "next: write your accounts into environments/*.yaml\n" in result.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--account", "12"), "environments/dev.yaml"),
        (("--region", "eu-west-99"), "environments/dev.yaml"),
        (("--environments", "Dev Team"), "environments/Dev Team.yaml"),
    ],
)
def test_wrong_values_are_findings_and_no_file_is_written(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    with pytest.raises(FindingsError) as error:
        init(tmp_path / "fleet", *options)
    assert message in {
        f"environments/{finding.file.name}" for finding in error.value.findings if finding.file
    }
    assert not (tmp_path / "fleet").exists()


def test_the_example_is_the_shipped_one(tmp_path: Path) -> None:
    init(tmp_path / "fleet")
    written_files = [
        file for file in files(tmp_path / "fleet") if file.startswith(("examples/sentence", "model_specs"))
    ]
    assert len(written_files) == 14
    for written_file in written_files:
        assert (tmp_path / "fleet" / written_file).read_bytes() == (ROOT / written_file).read_bytes()


def test_a_new_fleet_has_the_shipped_policy(initial_fleet: Path) -> None:
    assert (initial_fleet / "policies/platform.yaml").read_text() == (
        ROOT / "policies/platform.yaml"
    ).read_text()


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("ours")
    result = init(tmp_path)
    assert readme.read_text() == "ours"
    assert f"kept  {readme}, which differs\n" in result.stdout


def test_in_a_fleet_it_lists_what_differs_and_writes_nothing(initial_fleet: Path) -> None:
    (initial_fleet / "Makefile").write_text("all:\n")
    (initial_fleet / "app.py").unlink()
    assert init(initial_fleet).stdout.splitlines() == [
        "app.py does not exist",
        "Makefile differs from the file of this version",
        "run `fleet init --upgrade` to see each difference and write the files",
    ]
    assert ((initial_fleet / "Makefile").read_text(), (initial_fleet / "app.py").exists()) == (
        "all:\n",
        False,
    )


def test_in_a_fleet_of_this_version_nothing_differs(initial_fleet: Path) -> None:
    assert init(initial_fleet).stdout == f"the generated files of {initial_fleet} are up to date\n"


def test_an_upgrade_shows_each_difference_and_writes_generated_files_alone(initial_fleet: Path) -> None:
    (initial_fleet / "environments/dev.yaml").write_text("ours: true\n")
    (initial_fleet / "package.json").write_text(
        (initial_fleet / "package.json").read_text().replace("2.1148.1", "2.1.0")
    )
    result = init(initial_fleet, "--upgrade", "--yes")
    assert '-    "aws-cdk": "2.1.0",' in result.stdout.splitlines()
    assert '+    "aws-cdk": "2.1148.1",' in result.stdout.splitlines()
    assert result.stdout.splitlines()[-2:] == [
        "wrote package.json",
        "the generated files are up to date; run `make setup`",
    ]
    assert (initial_fleet / "environments/dev.yaml").read_text() == "ours: true\n"


def test_an_upgrade_works_from_a_folder_below(initial_fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (initial_fleet / "Makefile").unlink()
    monkeypatch.chdir(initial_fleet / "model_specs")
    assert fleet_init("--upgrade", "--yes").exit_code == 0
    assert (initial_fleet / "Makefile").exists()


def test_an_upgrade_without_a_terminal_needs_yes(initial_fleet: Path) -> None:
    (initial_fleet / "Makefile").unlink()
    with pytest.raises(CannotRunError, match="stdin is not a terminal"):
        init(initial_fleet, "--upgrade")
    assert not (initial_fleet / "Makefile").exists()


def test_an_upgrade_outside_of_a_fleet_names_the_command_that_writes_one(tmp_path: Path) -> None:
    with pytest.raises(CannotRunError) as error:
        init(tmp_path, "--upgrade")
    assert error.value.remedy == "change into the folder of a fleet, or write a new one: fleet init DIR"


def test_requirements_that_exist_stay_and_the_lines_to_add_are_named(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("pandas\n")
    result = init(tmp_path)
    assert (tmp_path / "requirements.txt").read_text() == "pandas\n"
    for name in (
        f"triton_fleet-{VERSION}-py3-none-any.whl[local]",
        f"triton_endpoints-{VERSION}-py3-none-any.whl",
    ):
        assert f"next: add to requirements.txt: ./vendor/{name} --hash=sha256:" in result.stdout


def test_a_file_in_the_place_of_a_folder_is_named_before_any_file_is_written(tmp_path: Path) -> None:
    (tmp_path / ".vscode").write_text("")
    with pytest.raises(CannotRunError, match=r"\.vscode is a file, but a folder has to be created there"):
        init(tmp_path)
    assert files(tmp_path) == {".vscode"}


def test_a_fleet_that_was_not_written_to_its_end_is_completed(tmp_path: Path) -> None:
    for name in ("model_specs", "environments"):
        (tmp_path / name).mkdir()
    assert init(tmp_path).exit_code == 0
    assert {"environments/dev.yaml", "app.py", "model_specs/sentence-embeddings.yaml"} <= files(tmp_path)


def test_below_a_fleet_it_lists_what_differs_there_and_writes_no_second_one(
    initial_fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(initial_fleet)
    monkeypatch.chdir(initial_fleet / "model_specs")
    result = fleet_init()
    assert result.stdout == f"the generated files of {initial_fleet} are up to date\n"
    with pytest.raises(CannotRunError, match="inside the fleet at"):
        fleet_init("another")
    assert files(initial_fleet) == before


@pytest.mark.parametrize("name", ["../oops", "dev,../oops", "/tmp/oops"])
def test_a_name_that_leads_elsewhere_writes_no_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(FindingsError):
        init(tmp_path / "fleet", "--environments", name)
    assert list(tmp_path.iterdir()) == []


def test_without_wheels_nothing_is_written_and_the_folder_that_was_installed_is_named(
    tmp_path: Path,
) -> None:
    with pytest.raises(CannotRunError) as error:
        CliRunner().invoke(app, ["init", str(tmp_path / "fleet")], catch_exceptions=False)
    assert error.value.problem == (
        f"a fleet has wheels of triton-fleet or a commit, but this one was installed from {ROOT}"
    )
    assert (
        error.value.remedy == f"build them with `make wheel` in {ROOT}, and name their folder: --wheels DIR"
    )
    assert not (tmp_path / "fleet").exists()
