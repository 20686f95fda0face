"""The `fleet` command as a user meets it: exit codes, and no traceback for a mistake of theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.typed_command import RunFleet, fleet
from triton_fleet.cli.main import run
from triton_fleet.local.state import LocalState


def test_the_commands_load_neither_the_emulator_nor_moto() -> None:
    look = "import sys, triton_fleet.cli.commands; print([n for n in ('moto', 'fleet_emulator.server') if n in sys.modules])"
    process = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"


def test_a_clean_fleet_exits_with_0(folder: FleetFolder) -> None:
    folder.lock()
    process = fleet(folder.root, "check", "--env", "dev")
    assert (process.returncode, process.stdout.strip()) == (0, "dev: no findings in sentences")


def test_a_mistake_exits_with_1_and_names_its_place_as_editors_link_it(folder: FleetFolder) -> None:
    folder.spec("scalling: {}\n")
    process = fleet(folder.root, "check", "--env", "dev")
    assert process.returncode == 1
    assert process.stderr.splitlines() == [
        "model_specs/sentences.yaml:6:1: error[unknown-key] FL110: unknown key `scalling`",
        "  6 | scalling: {}",
        "    | ^^^^^^^^",
        "  hint: did you mean `scaling`?",
        "1 error, 0 warnings",
        "run `fleet rules unknown-key` for an explanation of the first",
    ]


def test_it_works_from_a_folder_below(
    folder: FleetFolder, run_fleet: RunFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.lock()
    monkeypatch.chdir(folder.root / "model_specs")
    assert run_fleet("check", "--env", "dev").code == 0


def test_outside_of_a_fleet_it_exits_with_2_and_says_where_to_go(tmp_path: Path) -> None:
    process = fleet(tmp_path, "check", "--env", "dev")
    assert process.returncode == 2
    assert "no fleet at" in process.stderr
    assert "remedy: change into the folder of a fleet, or write a new one: fleet init DIR" in process.stderr


def test_an_unknown_option_exits_with_2(working_fleet: FleetFolder, run_fleet: RunFleet) -> None:
    assert run_fleet("check", "--enw", "dev").code == 2


@pytest.mark.nightly
def test_schema_check_fails_where_a_schema_is_stale_and_schema_mends_it(folder: FleetFolder) -> None:
    assert fleet(folder.root, "schema", "--check").returncode == 1
    assert fleet(folder.root, "schema").returncode == 0
    assert fleet(folder.root, "schema", "--check").returncode == 0


def test_invoking_where_nothing_runs_says_how_to_start_it(
    working_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("body.json", "{}")
    result = run_fleet("invoke", "sentences", "--env", "local", "--body", "body.json")
    assert result.code == 2
    assert "remedy: run `fleet local up` first" in result.err


def test_where_nothing_runs_locally_status_says_how_to_start_it(
    working_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    result = run_fleet("local", "status")
    assert (result.code, "remedy: run `fleet local up` first" in result.err) == (2, True)


def test_down_where_nothing_runs_is_no_mistake(working_fleet: FleetFolder, run_fleet: RunFleet) -> None:
    result = run_fleet("local", "down")
    assert (result.code, result.out.strip()) == (0, "nothing was running")


def test_an_unknown_log_is_a_mistake_of_the_input(working_fleet: FleetFolder, run_fleet: RunFleet) -> None:
    result = run_fleet("local", "logs", "nope")
    assert (result.code, "log 'nope' does not exist" in result.err) == (1, True)


def test_what_a_user_writes_is_never_taken_for_markup(
    working_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    working_fleet.environment(name="local")
    result = run_fleet("invoke", "sentences", "--env", "local", "--body", "[/nope] [red]x")
    assert result.code == 2
    assert "[/nope] [red]x" in result.err


def test_a_package_json_without_the_pin_is_told(working_fleet: FleetFolder, run_fleet: RunFleet) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("package.json", "{}")
    result = run_fleet("local", "up")
    assert result.code == 2
    assert "package.json does not pin the CDK CLI" in result.err


def test_a_second_up_at_the_same_time_is_told_to_wait_and_disturbs_nothing(folder: FleetFolder) -> None:
    folder.environment(name="local")
    with LocalState(folder.root).lock_deploys():
        process = fleet(folder.root, "local", "up")
    assert process.returncode == 2
    assert "another `fleet local up` is running here" in process.stderr


def test_a_missing_cdk_cli_is_told_with_its_version_and_how_to_get_it(
    working_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("package.json", '{"devDependencies": {"aws-cdk": "2.1148.1"}}')
    result = run_fleet("local", "up")
    assert result.code == 2
    assert "the CDK CLI 2.1148.1 is not installed" in result.err
    assert "remedy: run `make setup`" in result.err


def test_an_outdated_cdk_cli_is_told_with_both_versions(
    working_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("package.json", '{"devDependencies": {"aws-cdk": "2.1148.1"}}')
    working_fleet.write("node_modules/aws-cdk/package.json", '{"version": "2.100.0"}')
    result = run_fleet("local", "up")
    assert result.code == 2
    assert "the CDK CLI is 2.100.0; package.json pins 2.1148.1" in result.err


def test_warnings_alone_are_said_and_fail_only_a_strict_check(
    working_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    working_fleet.lock()
    working_fleet.spec("container: {log_verbose: true}\n")
    result = run_fleet("check", "--env", "dev")
    assert (result.code, "warning[verbose-log] FL266" in result.err) == (0, True)
    assert run_fleet("check", "--env", "dev", "--strict").code == 1


def test_a_machine_gets_its_document_on_standard_output_and_the_same_exit_code(
    working_fleet: FleetFolder, run_fleet: RunFleet
) -> None:
    working_fleet.spec("scalling: {}\n")
    result = run_fleet("check", "--env", "dev", "--format", "json")
    (finding,) = json.loads(result.out)["findings"]
    assert (result.code, result.err) == (1, "")
    assert (finding["file"], finding["line"], finding["code"]) == ("model_specs/sentences.yaml", 6, "FL110")


def test_an_interruption_exits_with_130_and_says_that_the_command_may_be_run_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("triton_fleet.cli.schema.project_root", interrupt)
    monkeypatch.setattr(sys, "argv", ["fleet", "schema", "--check"])
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 130
    assert capsys.readouterr().err.strip() == "interrupted: run the command again to continue"
