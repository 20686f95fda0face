"""`fleet new` as a user meets it: what it writes, what it says, how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tests.support.fleet_folder import ALLOWED_FINDINGS, FleetFolder
from tests.support.new_specs import NAME, NewSpecs
from triton_fleet.cli.commands import app
from triton_fleet.exits import INPUT_IS_WRONG
from triton_fleet.findings import CannotRunError, FindingsError


@pytest.fixture
def run(new: NewSpecs, monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    """The command in the fleet's folder."""
    monkeypatch.chdir(new.fleet.root)
    return CliRunner()


def lines(run: CliRunner, *arguments: str) -> list[str]:
    result = run.invoke(app, ["new", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout.splitlines()


def test_it_says_what_it_wrote_and_what_to_run_next(run: CliRunner, new: NewSpecs) -> None:
    new.onnx("embed")
    assert lines(run, NAME, "--from-repository", "new") == [
        "wrote model_specs/fresh.yaml",
        "next: fleet lock --env dev fresh",
        "      fleet deploy --env dev fresh",
    ]
    locked_result = run.invoke(app, ["lock", "--env", "dev", NAME], catch_exceptions=False)
    result = run.invoke(app, ["check", "--env", "dev", NAME, "--strict"], catch_exceptions=False)
    assert (locked_result.exit_code, result.exit_code) == (0, 0)


def test_with_a_local_environment_it_runs_here_first(run: CliRunner, new: NewSpecs) -> None:
    local = 'environment: local\naccount: "123456789012"\nregion: us-east-1\n'
    new.fleet.write("environments/local.yaml", local)
    new.onnx("embed")
    said_lines = lines(run, NAME, "--from-repository", "new")
    assert said_lines[1:] == ["next: fleet lock --env local fresh", "      fleet local up fresh"]


def test_a_copy_says_which_environments_have_overrides_for_the_other_alone(
    run: CliRunner, new: NewSpecs
) -> None:
    new.fleet.lock()
    new.fleet.environment("overrides: {sentences: {instance: {count: 2}}}\n")
    assert lines(run, NAME, "--from-spec", "sentences")[1] == (
        "environments/dev.yaml has overrides for sentences that were not copied"
    )


def test_a_copy_is_written_beside_the_original_where_its_folders_keys_and_paths_hold(
    run: CliRunner, new: NewSpecs
) -> None:
    spec = (new.fleet.root / "model_specs/sentences.yaml").read_text().replace("../repo", "../../repo")
    new.fleet.write("model_specs/search/sentences.yaml", spec.replace("instance: {type: ml.g5.xlarge}\n", ""))
    (new.fleet.root / "model_specs/sentences.yaml").unlink()
    new.fleet.write("model_specs/search/_folder.yaml", "instance: {type: ml.g5.2xlarge}\n")
    new.fleet.lock()
    assert lines(run, NAME, "--from-spec", "sentences")[0] == "wrote model_specs/search/fresh.yaml"
    assert new.spec().instance.type == "ml.g5.2xlarge"
    assert new.findings() == []
    with pytest.raises(FindingsError, match=r"FL123: model_specs/search/fresh\.yaml exists already"):
        run.invoke(app, ["new", NAME, "--from-spec", "sentences"], catch_exceptions=False)


def test_what_is_copied_is_the_spec_and_not_what_was_promoted(run: CliRunner, new: NewSpecs) -> None:
    new.fleet.lock()
    new.fleet.environment(name="prod")
    new.fleet.environment("promoted_from: prod\n")
    assert lines(run, NAME, "--from-spec", "sentences")[0] == "wrote model_specs/fresh.yaml"


def test_a_spec_in_a_folder_has_its_own_paths_and_lacks_what_the_folder_has(
    run: CliRunner, new: NewSpecs
) -> None:
    new.onnx("embed")
    new.fleet.write("profiles/gpu.yaml", "instance: {type: ml.g5.2xlarge, count: 2}\n")
    new.fleet.write("model_specs/_folder.yaml", f"profile: gpu\n{ALLOWED_FINDINGS}")
    new.fleet.write("model_specs/search/_folder.yaml", "triton: '25.04'\n")
    said_lines = lines(run, NAME, "--from-repository", "new", "--folder", "search/deep")
    assert said_lines[0] == "wrote model_specs/search/deep/fresh.yaml"
    text = (new.fleet.root / "model_specs/search/deep/fresh.yaml").read_text()
    assert text.startswith("# yaml-language-server: $schema=../../endpoint.schema.json\n")
    keys = yaml.safe_load(text)
    assert not {"instance", "triton", "profile"} & keys.keys()
    assert keys["models"] == [{"archive": "fresh", "repository": "../../../new"}]
    assert new.spec().instance.type == "ml.g5.2xlarge"
    assert new.findings() == []


def test_a_folder_is_not_made_for_a_spec_that_is_not_written(run: CliRunner, new: NewSpecs) -> None:
    new.onnx("embed")
    new.fleet.environment("overrides: {fresh: {instance: {count: 0}, triton: '1'}}\n")
    with pytest.raises(FindingsError) as refusal:
        run.invoke(app, ["new", NAME, "--from-repository", "new", "--folder", "a/b"], catch_exceptions=False)
    assert ".fresh." not in str(refusal.value)
    assert not (new.fleet.root / "model_specs/a").exists()


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("..", "it is not a folder below model_specs/"),
        ("../elsewhere", "it is not a folder below model_specs/"),
        ("a/../../b", "it is not a folder below model_specs/"),
        ("/tmp", "it is not a folder below model_specs/"),
        ("a/.hidden", "no spec in a hidden folder is read"),
        ("a/_folder.yaml", "_folder.yaml is the name of a folder's file"),
        ("model_specs/a", "it is relative to model_specs/"),
        ("sentences.yaml", "model_specs/sentences.yaml is a file"),
        ("linked/a", "model_specs/linked is a link, and no spec in it is read"),
    ],
)
def test_a_folder_in_which_no_spec_would_be_read_is_refused(
    run: CliRunner, new: NewSpecs, place: str, problem: str
) -> None:
    (new.fleet.root / "model_specs/linked").symlink_to(new.fleet.root)
    with pytest.raises(FindingsError) as refusal:
        run.invoke(app, ["new", NAME, "--from-repository", "new", "--folder", place], catch_exceptions=False)
    (finding,) = refusal.value.findings
    assert (finding.code, finding.message) == ("FL112", f'`--folder` is "{place}": {problem}')


def test_a_copy_with_a_folder_is_refused(run: CliRunner) -> None:
    result = run.invoke(app, ["new", NAME, "--from-spec", "sentences", "--folder", "search"])
    assert result.exit_code == 2
    assert "only with --from-repository" in result.output


@pytest.mark.parametrize("options", [[], ["--from-repository", "new", "--from-spec", "sentences"]])
def test_it_takes_a_repository_or_a_spec(run: CliRunner, options: list[str]) -> None:
    result = run.invoke(app, ["new", NAME, *options])
    assert result.exit_code == 2
    assert "pass one of the two" in result.output


def test_another_endpoint_that_is_not_there_is_told(run: CliRunner) -> None:
    with pytest.raises(FindingsError, match="FL120: there is no endpoint 'sentence'"):
        run.invoke(app, ["new", NAME, "--from-spec", "sentence"], catch_exceptions=False)


def test_a_fleet_without_environments_cannot_check_it(run: CliRunner, folder: FleetFolder) -> None:
    for file in (folder.root / "environments").iterdir():
        file.unlink()
    with pytest.raises(CannotRunError, match="has no environment for which the spec can be checked"):
        run.invoke(app, ["new", NAME, "--from-spec", "sentences"], catch_exceptions=False)


def test_findings_end_it_with_1(run: CliRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from triton_fleet.cli.main import run as command

    monkeypatch.setattr("sys.argv", ["fleet", "new", NAME, "--from-repository", str(tmp_path / "nowhere")])
    with pytest.raises(SystemExit) as exit_info:
        command()
    assert exit_info.value.code == INPUT_IS_WRONG
