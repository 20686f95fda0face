"""The real CDK CLI, run against the embedded AWS."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from fleet.local.access import local_variables
from fleet.local.tools import cdk_cli, tool_path
from fleet.resolve.endpoint import Place


@dataclass(frozen=True, kw_only=True)
class CdkRun:
    """How one call of the CLI ended, and all that it printed."""

    exit_code: int
    output: str


class Cdk:
    """Calls of the CLI in one clone, logged, without the user's own settings of AWS and the CDK."""

    def __init__(self, root: Path, *, url: str, place: Place, log: Path, home: Path) -> None:
        self._root = root
        self._command = str(cdk_cli(root))
        self._log = log
        self._environment = {
            **local_variables(os.environ, place, url),
            "CDK_DISABLE_CLI_TELEMETRY": "true",
            "NO_COLOR": "1",
            "CI": "1",
            "PATH": tool_path(),
            "HOME": str(home),
            # With another HOME, the library that synth runs would be unpacked anew.
            "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(Path.home() / ".cache" / "aws" / "jsii" / "package-cache"),
        }

    def run(self, *arguments: str) -> CdkRun:
        """Run `cdk ARGUMENTS` and wait; on any interruption its whole process group is ended first."""
        command = [self._command, *arguments]
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ cdk {' '.join(arguments)}\n")
            log.flush()
            start = log.tell()
            process = subprocess.Popen(
                command,
                cwd=self._root,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                exit_code = process.wait()
            except BaseException:
                _end(process)
                raise
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
