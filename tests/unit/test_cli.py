"""The `fleet` command as a user meets it: exit codes, and no traceback for a mistake of theirs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fleet_folder import FleetFolder


def fleet(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "fleet"), *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def test_a_clean_fleet_exits_with_0(folder: FleetFolder) -> None:
    done = fleet(folder.root, "check", "--env", "dev")
    assert (done.returncode, done.stdout.strip()) == (0, "dev: no findings in sentences")


def test_a_mistake_exits_with_1_and_names_its_place_as_editors_link_it(folder: FleetFolder) -> None:
    folder.spec("scalling: {}\n")
    done = fleet(folder.root, "check", "--env", "dev")
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "model_specs/sentences.yaml:6:1: error FL110: unknown key `scalling`",
        "  hint: did you mean `scaling`?",
        "1 error, 0 warnings",
    ]


def test_it_works_from_a_folder_below(folder: FleetFolder) -> None:
    assert fleet(folder.root / "model_specs", "check", "--env", "dev").returncode == 0


def test_outside_of_a_fleet_it_exits_with_2_and_says_where_to_go(tmp_path: Path) -> None:
    done = fleet(tmp_path, "check", "--env", "dev")
    assert done.returncode == 2
    assert "no fleet at" in done.stderr
    assert "remedy: change into the folder of the clone" in done.stderr


def test_an_unknown_option_exits_with_2(folder: FleetFolder) -> None:
    assert fleet(folder.root, "check", "--enw", "dev").returncode == 2


def test_schema_check_fails_where_a_schema_is_stale_and_schema_mends_it(folder: FleetFolder) -> None:
    assert fleet(folder.root, "schema", "--check").returncode == 1
    assert fleet(folder.root, "schema").returncode == 0
    assert fleet(folder.root, "schema", "--check").returncode == 0


def test_invoking_where_nothing_runs_says_how_to_start_it(folder: FleetFolder) -> None:
    folder.environment(name="local")
    done = fleet(folder.root, "invoke", "sentences", "--env", "local", "--body", "/dev/null")
    assert done.returncode == 2
    assert "remedy: run `fleet local up` first" in done.stderr


@pytest.mark.parametrize(
    ("command", "code", "said"), [("status", 1, "nothing runs"), ("down", 0, "nothing was")]
)
def test_where_nothing_runs_locally_status_and_down_say_so(
    folder: FleetFolder, command: str, code: int, said: str
) -> None:
    done = fleet(folder.root, "local", command)
    assert (done.returncode, said in done.stdout) == (code, True)


def test_a_missing_cdk_cli_is_told_with_its_version_and_how_to_get_it(folder: FleetFolder) -> None:
    folder.environment(name="local")
    folder.write("package.json", '{"devDependencies": {"aws-cdk": "2.1148.1"}}')
    done = fleet(folder.root, "local", "up")
    assert done.returncode == 2
    assert "the CDK CLI 2.1148.1 is not installed" in done.stderr
    assert "remedy: run `make setup`" in done.stderr


def test_an_outdated_cdk_cli_is_told_with_both_versions(folder: FleetFolder) -> None:
    folder.environment(name="local")
    folder.write("package.json", '{"devDependencies": {"aws-cdk": "2.1148.1"}}')
    folder.write("node_modules/aws-cdk/package.json", '{"version": "2.100.0"}')
    done = fleet(folder.root, "local", "up")
    assert done.returncode == 2
    assert "the CDK CLI is 2.100.0; package.json pins 2.1148.1" in done.stderr
