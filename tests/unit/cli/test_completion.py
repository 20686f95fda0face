"""A shell completes commands, options and names, whatever the files of the fleet look like."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from triton_fleet.cli.commands import COMMANDS

FLEET = "import sys; from triton_fleet.cli.main import run; sys.argv[0] = 'fleet'; run()"
ASK = """\
fleet() {{ {python} -c "{fleet}" "$@"; }}
{script}
COMP_WORDS=({words}) COMP_CWORD={last}
_fleet_completion fleet
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    for name in ("environments/dev.yaml", "environments/prod.yaml", "model_specs/team/bert.yaml"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("not: [a spec")
    return tmp_path


def run(folder: Path, command: list[str], **variables: str) -> list[str]:
    """The words that are offered; nothing may be printed as an error, and no file written."""
    before = sorted(folder.rglob("*"))
    environment = {**os.environ, "HOME": str(folder), **variables}
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert process.stderr == ""
    assert sorted(folder.rglob("*")) == before
    return process.stdout.split("\n")[:-1]


@cache
def bash_script() -> str:
    """The script that the command prints; it calls `fleet` through `env`, which finds no function."""
    command, variables = [sys.executable, "-c", FLEET], {**os.environ, "_FLEET_COMPLETE": "source_bash"}
    script = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
    return script.replace("env COMP_WORDS", "COMP_WORDS")


def bash(folder: Path, *words: str, **variables: str) -> list[str]:
    """The completions that bash offers for the last of the words."""
    if shutil.which("bash") is None:
        pytest.skip("no bash on this machine")
    text = " ".join(f"'{word}'" for word in ("fleet", *words))
    script = ASK.format(python=sys.executable, fleet=FLEET, script=bash_script(), words=text, last=len(words))
    return [line for line in run(folder, ["bash", "-c", script], **variables) if line]


@pytest.mark.parametrize(
    ("words", "offered_lines"),
    [
        (("dep",), ["deploy"]),
        (("deploy", "--en"), ["--env"]),
        (("deploy", "--env", ""), ["dev", "prod"]),
        (("deploy", "bert", "--env", "dev", ""), ["bert"]),
        (("show", "bert", ""), []),
        (("check", "--mode", "sh"), ["shared-container"]),
        (("images", "nonsense", ""), []),
        *(
            pytest.param(words, offers, marks=pytest.mark.nightly)
            for words, offers in (
                (("images", "pl"), ["plan"]),
                (("deploy", "--env", "p"), ["prod"]),
                (("promote", "--to", ""), ["dev", "prod"]),
                (("show", ""), ["bert"]),
                (("deploy", "--env", "dev", "--locked", "b"), ["bert"]),
                (("check", "--format", ""), ["human", "json", "sarif", "github"]),
                (("check", "--instance", "ml.g5.1"), ["ml.g5.12xlarge", "ml.g5.16xlarge"]),
                (("rules", "missing-driv"), ["missing-driver"]),
                (("deploy", "--concurrency", "many", "--env", "d"), ["dev"]),
                (("deploy", "--concurrency", ""), []),
            )
        ),
    ],
)
def test_bash_completes(fleet: Path, words: tuple[str, ...], offered_lines: list[str]) -> None:
    assert bash(fleet, *words) == offered_lines


def test_the_profiles_of_the_aws_settings_are_offered(fleet: Path) -> None:
    config, secrets = fleet / "config", fleet / "credentials"
    config.write_text("[default]\n[profile a]\nregion = [x]\n[sso-session s]\n[profile two words]\n")
    secrets.write_text("[b]\naws_secret_access_key = AAAA\n")
    files = {"AWS_CONFIG_FILE": str(config), "AWS_SHARED_CREDENTIALS_FILE": str(secrets)}
    assert bash(fleet, "deploy", "--profile", "", **files) == ["a", "b", "default"]


def test_nothing_is_offered_outside_of_a_fleet(tmp_path: Path) -> None:
    assert bash(tmp_path, "deploy", "--env", "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_name_that_a_shell_could_evaluate_is_not_offered(fleet: Path, shell: str) -> None:
    for name in ("$(touch x)", "`touch x`", "a'b", 'a"b', "a;b", "a\nb", "a*"):
        (fleet / "environments" / f"{name}.yaml").touch()
    words = {"COMP_WORDS": "fleet\nls\n--env\n", "COMP_CWORD": "3", "_TYPER_COMPLETE_ARGS": "fleet ls --env "}
    action = {"_TYPER_COMPLETE_FISH_ACTION": "get-args", "_FLEET_COMPLETE": f"complete_{shell}"}
    lines = run(fleet, [sys.executable, "-c", FLEET], **words, **action)
    assert "".join(lines).replace("_arguments '*: :((", "").replace("))'", "").replace('"', "") == "devprod"


def test_a_name_that_a_command_would_read_as_an_option_is_not_offered(fleet: Path) -> None:
    (fleet / "model_specs/-y.yaml").touch()
    assert bash(fleet, "deploy", "") == ["bert"]
    assert bash(fleet, "deploy", "-y") == ["-y"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_show_what_each_command_does(fleet: Path, shell: str) -> None:
    words = {"_TYPER_COMPLETE_ARGS": "fleet ", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    lines = run(fleet, [sys.executable, "-c", FLEET], **words, _FLEET_COMPLETE=f"complete_{shell}")
    assert len(lines) == len(COMMANDS)
    assert all(COMMANDS[name].summary[:10] in line for name, line in zip(COMMANDS, lines, strict=True))
