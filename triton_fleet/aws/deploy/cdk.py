"""Runs the CDK against the AWS of one environment: its CLI, and for deploys its toolkit."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.aws.deploy.cdk_toolkit import CdkEndedError, CdkProcesses, CdkToolkit, Watch
from triton_fleet.core.files import open_for_owner, replace_file
from triton_fleet.findings import CannotRunError
from triton_fleet.product.synthesis import settings
from triton_fleet.product.tools import cdk_cli, cdk_toolkit, tool_path

SETTINGS = "cdk-settings"
"""The folder beside the log in which the CLI runs, with a cdk.json that the product writes."""


@dataclass(frozen=True, kw_only=True)
class CdkRun:
    """Exit status and output of one call of the CLI, or of one stack's deploy."""

    exit_code: int
    output: str


class Cdk:
    """Calls of the CDK in one clone, logged; `where_logs` explains to the user where the log is.

    Threads may run it at one time, each with a log of its own (`with_log`).

    The CLI runs the commands `app` and `build` of the cdk.json in its working directory, and loads the
    modules of its `plugin`. So it gets a directory of its own, whose cdk.json has only the fleet's `context`.
    The toolkit reads no settings.
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
        """Find both.

        Raises:
            CannotRunError: the CLI, the toolkit or their Node.js is missing or has a wrong version, or the
                fleet has no readable cdk.json.
        """
        self.where_logs = where_logs
        self._command = str(cdk_cli(root))
        self._log = log
        variables = {
            **environment,
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "NO_COLOR": "1",
            "CI": "1",
            "PATH": tool_path(),
        }
        if home is not None:
            variables |= {
                "HOME": str(home),
                # With another HOME, the library that synth runs would be unpacked again.
                "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(
                    Path.home() / ".cache" / "aws" / "jsii" / "package-cache"
                ),
            }
        self._processes = CdkProcesses(_settings_folder(root, log.parent / SETTINGS), variables)
        self._toolkit = CdkToolkit(cdk_toolkit(root), self._processes, errors=log)

    def with_log(self, log: Path, where_logs: str) -> Cdk:
        """The same CDK with another log, which begins empty; `end` of one ends the calls of both."""
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        copy_with_log = copy(self)
        copy_with_log._log, copy_with_log.where_logs = log, where_logs
        return copy_with_log

    def run(self, *arguments: str) -> CdkRun:
        """Run `cdk ARGUMENTS` and wait; its whole process group ends before this process or with it.

        Raises:
            CdkEndedError: another thread has called `end`.
        """
        command = [self._command, *arguments]
        with open(self._log, "a", encoding="utf-8", opener=open_for_owner) as log:
            log.write(f"$ cdk {' '.join(arguments)}\n")
            log.flush()
            start = log.tell()
            child = self._processes.process(command, stdout=log.fileno(), stderr=subprocess.STDOUT)
            with child as process:
                exit_code = process.wait()
        if self._processes.has_ended:
            raise CdkEndedError
        with self._log.open(encoding="utf-8", errors="replace") as log:
            log.seek(start)
            return CdkRun(exit_code=exit_code, output=log.read())

    def deploy(
        self,
        assembly: Path,
        stack: str,
        change_set: str,
        *,
        imports: bool = False,
        watch: Watch = lambda _: None,
    ) -> CdkRun:
        """Deploy one stack of an assembly by a change set of that name, without confirmation, and wait.

        `imports`: resources that exist under the names of the template become the stack's.
        `watch` is called with the output so far, about every second.

        Raises:
            CdkEndedError: another thread has called `end`.
        """
        with open(self._log, "a", encoding="utf-8", opener=open_for_owner) as log:
            log.write(f"deploy of {stack} by the change set {change_set}\n")
            has_failed, output = self._toolkit.deploy(
                assembly, stack, change_set, log, imports=imports, watch=watch
            )
        return CdkRun(exit_code=int(has_failed), output=output)

    def finish(self) -> None:
        """Let the toolkit's process end by itself, once no stack is deployed any more; return when it has."""
        self._toolkit.finish()

    def end(self) -> None:
        """End what runs in any thread, and start nothing more; return when it has ended."""
        self._processes.end()


def _settings_folder(root: Path, folder: Path) -> Path:
    if not (root / "cdk.json").is_file():
        problem = f"{root / 'cdk.json'} does not exist: templates depend on its `context`"
        raise CannotRunError(problem, "restore the file, or run `fleet init --upgrade`")
    own = {"context": dict(settings(root)), "versionReporting": False, "notices": False}
    shutil.rmtree(folder, ignore_errors=True)
    replace_file(folder / "cdk.json", json.dumps(own))
    return folder
