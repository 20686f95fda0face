"""The part of a buildspec that builds here support; everything beyond it fails the build.

Source: CodeBuild user guide, build-spec-ref.html.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PHASES = ("install", "pre_build", "build", "post_build")
_OF_ALL = {"version", "env", "phases"}
_OF_ENV = {"shell", "variables"}
_OF_A_PHASE = {"commands", "finally", "runtime-versions"}
"""Runtimes are not chosen here: there is one Python, that of this process."""
_SAW = "SAW=$?; [ $SAW = 0 ]"


class BuildspecError(Exception):
    """It cannot be read, or asks for what is not supported here."""


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Commands until one fails, and those that run in any case."""

    commands: tuple[str, ...] = ()
    afterwards: tuple[str, ...] = ()

    def script(self, kept: Path, *, succeeding: bool) -> str:
        """One script for bash, as all commands of version 0.2 have one shell.

        Args:
            kept: The file where exported variables and the folder are kept for the next phase.
            succeeding: The value of CODEBUILD_BUILD_SUCCEEDING: whether no phase before has failed.
        """
        state = shlex.quote(str(kept))
        afterwards = "\n".join(
            f"{_command_text(each)}\n{each}\n{_SAW} || CODE=$SAW" for each in self.afterwards
        )
        return "\n".join(
            [
                f"[ ! -e {state} ] || . {state}",
                f"export CODEBUILD_BUILD_SUCCEEDING={succeeding:d}",
                "finish() {\nCODE=$?\ntrap - EXIT",
                afterwards,
                f'{{ export -p; printf "cd %q\\n" "$PWD"; }} > {state}\nexit $CODE\n}}',
                # Bash would be gone at once, before the command that it waits for has ended in order.
                "trap finish EXIT\ntrap 'exit 143' TERM",
                *(f"{_command_text(command)}\n{command}\n{_SAW} || exit $SAW" for command in self.commands),
            ]
        )


@dataclass(frozen=True, kw_only=True)
class Buildspec:
    """What a build runs; `variables` are weaker than those of project and build."""

    variables: Mapping[str, str]
    phases: Mapping[str, Phase]


def read_buildspec(text: str) -> Buildspec:
    """Read a buildspec that is a project's own text.

    Raises:
        BuildspecError: with what is wrong in one sentence.
    """
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BuildspecError(str(error)) from error
    if document is None:
        raise BuildspecError("YAML file does not exist: a buildspec.yml of the source is not supported here")
    if not isinstance(document, dict):
        raise BuildspecError(f"a buildspec that is a file of the source is not supported here: {text!r}")
    _refuse_others(document, _OF_ALL, "")
    if str(document.get("version")) != "0.2":
        raise BuildspecError(f"version {document.get('version')} is not supported here, only 0.2")
    env, phases = document.get("env") or {}, document.get("phases") or {}
    _refuse_others(env, _OF_ENV, "env.")
    _refuse_others(phases, set(PHASES), "phases.")
    if env.get("shell", "bash") != "bash":
        raise BuildspecError(f"commands run in bash here, not in {env['shell']}")
    return Buildspec(
        variables={name: str(value) for name, value in (env.get("variables") or {}).items()},
        phases={name: _phase(phases.get(name) or {}, name) for name in PHASES},
    )


def _phase(declared: Mapping[str, Any], name: str) -> Phase:
    _refuse_others(declared, _OF_A_PHASE, f"phases.{name}.")
    commands, afterwards = (tuple(map(str, declared.get(key) or ())) for key in ("commands", "finally"))
    return Phase(commands=commands, afterwards=afterwards)


def _refuse_others(found: Mapping[str, Any], known: set[str], path: str) -> None:
    for name in sorted(set(found) - known):
        raise BuildspecError(f"{path}{name} is not supported here")


def _command_text(command: str) -> str:
    shown = command.strip().replace("\n", "\n[Container] ")
    return f"printf '[Container] Running command %s\\n' {shlex.quote(shown)}"
