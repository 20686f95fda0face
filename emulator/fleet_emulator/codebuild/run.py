"""The run of a build: its source, its buildspec, and the commands of its phases."""

from __future__ import annotations

import json
import logging
import shlex
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from botocore.exceptions import ClientError
from moto.events.models import events_backends

from fleet_emulator import process_state
from fleet_emulator.codebuild.build import FAILED, STOPPED, SUCCEEDED, TIMED_OUT, Build
from fleet_emulator.process_state import turn
from fleet_emulator.product import UnpackingError, budget_of_disk, unpack_zip
from fleet_emulator.work.machine import NOTE, LogStream, Machine
from fleet_emulator.work.task import ExitReason, Outcome, Task

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class SourceError(Exception):
    """There is no source, or none that may be unpacked."""


def unpack_source(source: Mapping[str, Any], folder: Path, s3: S3Client) -> None:
    """Unpack a zip file below the folder; a source of type NO_SOURCE is none.

    Raises:
        SourceError: with the reason in one sentence.
    """
    if source["type"] == "NO_SOURCE":
        return
    if source["type"] != "S3":
        raise SourceError(f"a source of type {source['type']} is not supported here")
    bucket, _, key = source.get("location", "").partition("/")
    try:
        content = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        unpack_zip(BytesIO(content), folder, budget_of_disk(folder))
    except ClientError as error:
        raise SourceError(f"{error.response['Error']['Message']} ({source['location']})") from error
    except UnpackingError as error:
        raise SourceError(f"{source['location']} cannot be unpacked: {error}") from error


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


log = logging.getLogger("fleet_emulator")

_GOES_ON_FAILED = ("build", "post_build")
"""Phases that others follow even if they fail; source: CodeBuild user guide, view-build-details.html."""
_STATUS = {ExitReason.STOPPED: STOPPED, ExitReason.TIMED_OUT: TIMED_OUT, ExitReason.EXITED: FAILED}


def run_build(build: Build, task: Task, *, account: str, region: str) -> None:
    """Run it to its end, whatever that is."""
    try:
        with tempfile.TemporaryDirectory(prefix="fleet-build-", ignore_cleanup_errors=True) as folder:
            _Run(build, task, Path(folder), account=account, region=region).phases()
    except Exception as error:
        log.exception("the build %s failed", build.id)
        with turn():
            build.end(FAILED, code="INTERNAL_ERROR", message=str(error))
    finally:
        with turn():
            complete_build(build, account=account, region=region)


def complete_build(build: Build, *, account: str, region: str) -> None:
    """End it within one's turn, and have EventBridge hear of it; of nothing before its end."""
    build.complete()
    event = {
        "Source": "aws.codebuild",
        "DetailType": "CodeBuild Build State Change",
        "Resources": [build.arn],
        "Detail": json.dumps(build.state_change),
    }
    events_backends[account][region].put_events([event])


class _Run:
    def __init__(self, build: Build, task: Task, folder: Path, *, account: str, region: str) -> None:
        self._build, self._task, self._folder = build, task, folder
        self._account, self._region = account, region
        self._source = folder / "src"
        self._source.mkdir()
        with turn():
            self._declared = build.declared
            build.begin("PROVISIONING")
        group, stream = build.log
        self._log = LogStream(account, region, group=group, stream=stream)
        self._say(NOTE)

    def phases(self) -> None:
        environment = self._declared["environment"]
        machine = Machine.of_build(environment)
        self._end_phase()
        self._begin("DOWNLOAD_SOURCE")
        try:
            s3 = process_state.current().s3(self._account, self._region)
            unpack_source(self._declared["source"], self._source, s3)
            buildspec = read_buildspec(self._declared["source"].get("buildspec", ""))
        except (SourceError, BuildspecError) as error:
            code = "CLIENT_ERROR" if isinstance(error, SourceError) else "YAML_FILE_ERROR"
            self._end_phase(FAILED, code=code, message=str(error))
        else:
            self._end_phase()
            if self._commands(buildspec, self._variables(machine, buildspec)):
                self._begin("UPLOAD_ARTIFACTS")
                self._end_phase()
        self._begin("FINALIZING")
        self._end_phase()

    def _commands(self, buildspec: Buildspec, variables: dict[str, str]) -> bool:
        """Run the phases of the buildspec; whether artifacts are uploaded after them."""
        for name in PHASES:
            self._begin(name.upper())
            phase = buildspec.phases[name]
            outcome = self._run(phase, variables)
            if outcome is None or outcome.succeeded:
                self._end_phase()
                continue
            status = _STATUS[outcome.ending]
            failed = status == FAILED
            self._end_phase(
                status,
                code="COMMAND_EXECUTION_ERROR" if failed else "",
                message=f"Error while executing commands. Reason: exit status {outcome.code}"
                if failed
                else "",
            )
            if not failed or name not in _GOES_ON_FAILED:
                return False
        return True

    def _run(self, phase: Phase, variables: dict[str, str]) -> Outcome | None:
        if not phase.commands and not phase.afterwards:
            return None
        with turn():
            succeeding = self._build.outcome == SUCCEEDED
        script = phase.script(self._folder / "shell-state", succeeding=succeeding)
        return self._task.run(["bash", "-c", script], variables, folder=self._source, write=self._write)

    def _variables(self, machine: Machine, buildspec: Buildspec) -> dict[str, str]:
        environment = self._declared["environment"]
        declared = {each["name"]: each["value"] for each in environment["environmentVariables"]}
        return {
            **buildspec.variables,
            **machine.variables(self._folder, account=self._account, region=self._region),
            **declared,
            "CODEBUILD_BUILD_ID": self._build.id,
            "CODEBUILD_BUILD_ARN": self._build.arn,
            "CODEBUILD_BUILD_IMAGE": environment["image"],
            "CODEBUILD_CI": "true",
            "CODEBUILD_SRC_DIR": str(self._source),
        }

    def _begin(self, phase: str) -> None:
        self._say(f"Entering phase {phase}")
        with turn():
            self._build.begin(phase)

    def _end_phase(self, status: str = SUCCEEDED, *, code: str = "", message: str = "") -> None:
        with turn():
            self._build.end(status, code=code, message=message)
            phase = self._build.phases[-1]["phaseType"]
        self._say(f"Phase complete: {phase} State: {status}")
        if code or message:
            self._say(f"Phase context status code: {code} Message: {message}")

    def _say(self, text: str) -> None:
        self._write(f"[Container] {text}")

    def _write(self, line: str) -> None:
        self._log.write(f"{line}\n")
