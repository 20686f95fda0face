"""`fleet new` as a user meets it: what it writes, what it says, how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fleet.cli.commands import app
from fleet.exits import INPUT_IS_WRONG
from fleet.findings import CannotRunError, FindingsError
from fleet_folder import FleetFolder
from new_specs import NAME, NewSpecs


@pytest.fixture
def run(new: NewSpecs, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """The command in the fleet's folder."""
    monkeypatch.chdir(new.fleet.root)
    return CliRunner()


def lines(run: CliRunner, *arguments: str) -> list[str]:
    done = run.invoke(app, ["new", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout.splitlines()


def test_it_says_what_it_wrote_and_what_to_run_next(run: CliRunner, new: NewSpecs) -> None:
    new.onnx("embed")
    assert lines(run, NAME, "--from-repository", "new") == [
        "wrote model_specs/fresh.yaml",
        "next: fleet lock --env dev fresh",
        "      fleet deploy --env dev fresh",
    ]
    locked = run.invoke(app, ["lock", "--env", "dev", NAME], catch_exceptions=False)
    checked = run.invoke(app, ["check", "--env", "dev", NAME, "--strict"], catch_exceptions=False)
    assert (locked.exit_code, checked.exit_code) == (0, 0)


def test_with_a_local_environment_it_runs_here_first(run: CliRunner, new: NewSpecs) -> None:
    local = 'environment: local\naccount: "123456789012"\nregion: us-east-1\n'
    new.fleet.write("environments/local.yaml", local)
    new.onnx("embed")
    said = lines(run, NAME, "--from-repository", "new")
    assert said[1:] == ["next: fleet lock --env local fresh", "      fleet local up fresh"]


def test_a_copy_says_which_environments_have_overrides_for_the_other_alone(
    run: CliRunner, new: NewSpecs
) -> None:
    new.fleet.lock()
    new.fleet.environment("overrides: {sentences: {instance: {count: 2}}}\n")
    assert lines(run, NAME, "--from-spec", "sentences")[1] == (
        "environments/dev.yaml has overrides for sentences that were not copied"
    )


@pytest.mark.parametrize("options", [[], ["--from-repository", "new", "--from-spec", "sentences"]])
def test_it_takes_a_repository_or_a_spec(run: CliRunner, options: list[str]) -> None:
    done = run.invoke(app, ["new", NAME, *options])
    assert done.exit_code == 2
    assert "pass one of the two" in done.output


def test_another_endpoint_that_is_not_there_is_told(run: CliRunner) -> None:
    with pytest.raises(FindingsError, match="FL120: there is no endpoint 'sentence'"):
        run.invoke(app, ["new", NAME, "--from-spec", "sentence"], catch_exceptions=False)


def test_a_fleet_without_environments_cannot_check_it(run: CliRunner, folder: FleetFolder) -> None:
    for file in (folder.root / "environments").iterdir():
        file.unlink()
    with pytest.raises(CannotRunError, match="has no environment for which the spec can be checked"):
        run.invoke(app, ["new", NAME, "--from-spec", "sentences"], catch_exceptions=False)


def test_findings_end_it_with_1(run: CliRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fleet.cli.main import run as command

    monkeypatch.setattr("sys.argv", ["fleet", "new", NAME, "--from-repository", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as ended:
        command()
    assert ended.value.code == INPUT_IS_WRONG
