"""A build's run, in a thread of its own: each phase's commands in bash, in a folder that goes with it."""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path

from moto.events.models import events_backends

from fleet_emulator import process_state
from fleet_emulator.codebuild.build import FAILED, STOPPED, SUCCEEDED, TIMED_OUT, Build
from fleet_emulator.codebuild.buildspec import PHASES, Buildspec, BuildspecError, Phase, read_buildspec
from fleet_emulator.codebuild.source import SourceError, unpack_source
from fleet_emulator.state_lock import turn
from fleet_emulator.work.log_stream import LogStream
from fleet_emulator.work.machine import NOTE, Machine
from fleet_emulator.work.task import ExitReason, Outcome, Task

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
