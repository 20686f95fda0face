"""Runs the CDK CLI against the AWS of one environment."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.aws.deploy.tools import cdk_cli, tool_path
from fleet.process_guard import start_guarded


@dataclass(frozen=True, kw_only=True)
class CdkRun:
    """Exit status and output of one call of the CLI."""

    exit_code: int
    output: str


class Cdk:
    """Calls of the CLI in one clone, logged; `where_logs` explains to the user where the log is.

    If `home` is given, the CLI reads the user's CDK settings there.
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
            CannotRunError: the CLI or its Node.js is missing or has a wrong version.
        """
        self.where_logs = where_logs
        self._root = root
        self._command = str(cdk_cli(root))
        self._log = log
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

    def run(self, *arguments: str) -> CdkRun:
        """Run `cdk ARGUMENTS` and wait; its whole process group ends before this process or with it."""
        command = [self._command, *arguments]
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ cdk {' '.join(arguments)}\n")
            log.flush()
            start = log.tell()
            process, guard = start_guarded(
                command, cwd=self._root, env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
            try:
                exit_code = process.wait()
            except BaseException:
                _end(process)
                raise
            finally:
                guard.kill()
                guard.communicate()
        with self._log.open(encoding="utf-8", errors="replace") as log:
            log.seek(start)
            return CdkRun(exit_code=exit_code, output=log.read())


def _end(process: subprocess.Popen[bytes]) -> None:
    for end in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, end)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=5)
            break
        except subprocess.TimeoutExpired:
            continue
