"""Runs the CDK CLI against the AWS of one environment."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path

from fleet.aws.deploy.tools import cdk_cli, tool_path
from fleet.core.files import owner_only, write_atomically
from fleet.findings import CannotRunError
from fleet.process_guard import start_guarded
from fleet.upgrade.synthesis import settings

SECONDS_TO_END = 5.0
SETTINGS = "cdk-settings"
"""The folder beside the log in which the CLI runs, with a cdk.json that the product writes."""


@dataclass(frozen=True, kw_only=True)
class CdkRun:
    """Exit status and output of one call of the CLI."""

    exit_code: int
    output: str


@dataclass
class CdkProcesses:
    """The running processes of the CLI, by process group, and whether no other may start."""

    groups: set[int] = field(default_factory=set)
    ended: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)


class CdkEndedError(Exception):
    """The CLI was ended by `Cdk.end`, or not started after it."""


class Cdk:
    """Calls of the CLI in one clone, logged; `where_logs` explains to the user where the log is.

    Threads may run it at one time, each with a log of its own (`with_log`).

    The CLI runs the commands `app` and `build` of the cdk.json in its working directory, and loads the
    modules of its `plugin`. So it gets a directory of its own, whose cdk.json has only the fleet's `context`.
    If `home` is given, the CLI reads the user's CDK settings (`~/.cdk.json`) there.
    """

    def __init__(
        self,
        root: Path,
        environment: Mapping[str, str],
        *,
        log: Path,
        where_logs: str,
        home: Path | None = None,
    ) -> None:
        """Find the CLI.

        Raises:
            CannotRunError: the CLI or its Node.js is missing or has a wrong version, or the fleet has no
                readable cdk.json.
        """
        self.where_logs = where_logs
        self._folder = _settings_folder(root, log.parent / SETTINGS)
        self._command = str(cdk_cli(root))
        self._log = log
        self._processes = CdkProcesses()
        self._environment = {
            **environment,
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "NO_COLOR": "1",
            "CI": "1",
            "PATH": tool_path(),
        }
        if home is not None:
            self._environment |= {
                "HOME": str(home),
                # With another HOME, the library that synth runs would be unpacked again.
                "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(
                    Path.home() / ".cache" / "aws" / "jsii" / "package-cache"
                ),
            }

    def with_log(self, log: Path, where_logs: str) -> Cdk:
        """The same CLI with another log, which begins empty; `end` of one ends the calls of both."""
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        other = copy(self)
        other._log, other.where_logs = log, where_logs
        return other

    def run(self, *arguments: str) -> CdkRun:
        """Run `cdk ARGUMENTS` and wait; its whole process group ends before this process or with it.

        Raises:
            CdkEndedError: another thread has called `end`.
        """
        command = [self._command, *arguments]
        with open(self._log, "a", encoding="utf-8", opener=owner_only) as log:
            log.write(f"$ cdk {' '.join(arguments)}\n")
            log.flush()
            start = log.tell()
            with self._running(command, log.fileno()) as process:
                exit_code = process.wait()
        if self._processes.ended:
            raise CdkEndedError
        with self._log.open(encoding="utf-8", errors="replace") as log:
            log.seek(start)
            return CdkRun(exit_code=exit_code, output=log.read())

    def end(self) -> None:
        """End what runs in any thread, and start nothing more; return when it has ended."""
        changed = self._processes.changed
        with changed:
            self._processes.ended = True
            for number in (signal.SIGTERM, signal.SIGKILL):
                for group in self._processes.groups:
                    _signal(group, number)
                changed.wait_for(lambda: not self._processes.groups, SECONDS_TO_END)

    @contextmanager
    def _running(self, command: list[str], log: int) -> Iterator[subprocess.Popen[bytes]]:
        groups, changed = self._processes.groups, self._processes.changed
        with changed:
            if self._processes.ended:
                raise CdkEndedError
            process, guard = start_guarded(
                command, cwd=self._folder, env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
            groups.add(process.pid)
        try:
            yield process
        except BaseException:
            _end(process)
            raise
        finally:
            guard.kill()
            guard.communicate()
            with changed:
                groups.discard(process.pid)
                changed.notify_all()


def _settings_folder(root: Path, folder: Path) -> Path:
    if not (root / "cdk.json").is_file():
        problem = f"{root / 'cdk.json'} does not exist: templates depend on its `context`"
        raise CannotRunError(problem, "restore the file, or run `fleet init --upgrade`")
    own = {"context": dict(settings(root)), "versionReporting": False, "notices": False}
    shutil.rmtree(folder, ignore_errors=True)
    write_atomically(folder / "cdk.json", json.dumps(own))
    return folder


def _end(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        _signal(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=SECONDS_TO_END)
            break


def _signal(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, number)
