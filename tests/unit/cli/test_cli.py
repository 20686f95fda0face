"""The `fleet` command as a user meets it: exit codes, and no traceback for a mistake of theirs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.typed_command import Typed, fleet
from triton_fleet.cli.main import run
from triton_fleet.local.state import LocalState


@pytest.fixture
def working_fleet(folder: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> FleetFolder:
    """The fleet without findings, as the working directory."""
    monkeypatch.chdir(folder.root)
    return folder


def test_the_commands_load_neither_the_emulator_nor_moto() -> None:
    look = "import sys, triton_fleet.cli.commands; print([n for n in ('moto', 'fleet_emulator.server') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_clean_fleet_exits_with_0(folder: FleetFolder) -> None:
    folder.lock()
    done = fleet(folder.root, "check", "--env", "dev")
    assert (done.returncode, done.stdout.strip()) == (0, "dev: no findings in sentences")


def test_a_mistake_exits_with_1_and_names_its_place_as_editors_link_it(folder: FleetFolder) -> None:
    folder.spec("scalling: {}\n")
    done = fleet(folder.root, "check", "--env", "dev")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "model_specs/sentences.yaml:6:1: error[unknown-key] FL110: unknown key `scalling`",
        "  6 | scalling: {}",
        "    | ^^^^^^^^",
        "  hint: did you mean `scaling`?",
        "1 error, 0 warnings",
        "run `fleet rules unknown-key` for an explanation of the first",
    ]


def test_it_works_from_a_folder_below(
    folder: FleetFolder, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.lock()
    monkeypatch.chdir(folder.root / "model_specs")
    assert typed("check", "--env", "dev").code == 0


def test_outside_of_a_fleet_it_exits_with_2_and_says_where_to_go(tmp_path: Path) -> None:
    done = fleet(tmp_path, "check", "--env", "dev")
    assert done.returncode == 2
    assert "no fleet at" in done.stderr
    assert "remedy: change into the folder of a fleet, or write a new one: fleet init DIR" in done.stderr


def test_an_unknown_option_exits_with_2(working_fleet: FleetFolder, typed: Typed) -> None:
    assert typed("check", "--enw", "dev").code == 2


@pytest.mark.nightly
def test_schema_check_fails_where_a_schema_is_stale_and_schema_mends_it(folder: FleetFolder) -> None:
    assert fleet(folder.root, "schema", "--check").returncode == 1
    assert fleet(folder.root, "schema").returncode == 0
    assert fleet(folder.root, "schema", "--check").returncode == 0


def test_invoking_where_nothing_runs_says_how_to_start_it(working_fleet: FleetFolder, typed: Typed) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("body.json", "{}")
    done = typed("invoke", "sentences", "--env", "local", "--body", "body.json")
    assert done.code == 2
    assert "remedy: run `fleet local up` first" in done.err


def test_where_nothing_runs_locally_status_says_how_to_start_it(
    working_fleet: FleetFolder, typed: Typed
) -> None:
    done = typed("local", "status")
    assert (done.code, "remedy: run `fleet local up` first" in done.err) == (2, True)


def test_down_where_nothing_runs_is_no_mistake(working_fleet: FleetFolder, typed: Typed) -> None:
    done = typed("local", "down")
    assert (done.code, done.out.strip()) == (0, "nothing was running")


def test_an_unknown_log_is_a_mistake_of_the_input(working_fleet: FleetFolder, typed: Typed) -> None:
    done = typed("local", "logs", "nope")
    assert (done.code, "log 'nope' does not exist" in done.err) == (1, True)


def test_what_a_user_writes_is_never_taken_for_markup(working_fleet: FleetFolder, typed: Typed) -> None:
    working_fleet.environment(name="local")
    done = typed("invoke", "sentences", "--env", "local", "--body", "[/nope] [red]x")
    assert done.code == 2
    assert "[/nope] [red]x" in done.err


def test_a_package_json_without_the_pin_is_told(working_fleet: FleetFolder, typed: Typed) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("package.json", "{}")
    done = typed("local", "up")
    assert done.code == 2
    assert "package.json does not pin the CDK CLI" in done.err


def test_a_second_up_at_the_same_time_is_told_to_wait_and_disturbs_nothing(folder: FleetFolder) -> None:
    folder.environment(name="local")
    with LocalState(folder.root).lock_deploys():
        done = fleet(folder.root, "local", "up")
    assert done.returncode == 2
    assert "another `fleet local up` is running here" in done.stderr


def test_a_missing_cdk_cli_is_told_with_its_version_and_how_to_get_it(
    working_fleet: FleetFolder, typed: Typed
) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("package.json", '{"devDependencies": {"aws-cdk": "2.1148.1"}}')
    done = typed("local", "up")
    assert done.code == 2
    assert "the CDK CLI 2.1148.1 is not installed" in done.err
    assert "remedy: run `make setup`" in done.err


def test_an_outdated_cdk_cli_is_told_with_both_versions(working_fleet: FleetFolder, typed: Typed) -> None:
    working_fleet.environment(name="local")
    working_fleet.write("package.json", '{"devDependencies": {"aws-cdk": "2.1148.1"}}')
    working_fleet.write("node_modules/aws-cdk/package.json", '{"version": "2.100.0"}')
    done = typed("local", "up")
    assert done.code == 2
    assert "the CDK CLI is 2.100.0; package.json pins 2.1148.1" in done.err


def test_warnings_alone_are_said_and_fail_only_a_strict_check(
    working_fleet: FleetFolder, typed: Typed
) -> None:
    working_fleet.lock()
    working_fleet.spec("container: {log_verbose: true}\n")
    done = typed("check", "--env", "dev")
    assert (done.code, "warning[verbose-log] FL266" in done.err) == (0, True)
    assert typed("check", "--env", "dev", "--strict").code == 1


def test_a_machine_gets_its_document_on_standard_output_and_the_same_exit_code(
    working_fleet: FleetFolder, typed: Typed
) -> None:
    working_fleet.spec("scalling: {}\n")
    done = typed("check", "--env", "dev", "--format", "json")
    (found,) = json.loads(done.out)["findings"]
    assert (done.code, done.err) == (1, "")
    assert (found["file"], found["line"], found["code"]) == ("model_specs/sentences.yaml", 6, "FL110")


def test_an_interruption_exits_with_130_and_says_that_the_command_may_be_run_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("triton_fleet.cli.schema.project_root", interrupted)
    monkeypatch.setattr(sys, "argv", ["fleet", "schema", "--check"])
    with pytest.raises(SystemExit) as end:
        run()
    assert end.value.code == 130
    assert capsys.readouterr().err.strip() == "interrupted: run the command again to continue"
