"""A copy of the clone, in which a test may deploy and break what it likes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from botocore.config import Config

from tests.support.fleet_folder import ROOT
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.local.state import LocalState

LEFT_OUT = shutil.ignore_patterns(".*", "node_modules", "cdk.out", "*.egg-info", "__pycache__", "benchmarks")


@dataclass(frozen=True)
class Clone:
    """A working folder with the CDK CLI of the real clone; commands run in it as a user runs them.

    Without `validates`, synth leaves the CDK's own rules out, which take 3 s of processor time each.
    """

    root: Path
    validates: bool = False

    def fleet(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `fleet ARGUMENTS` to its end."""
        process = subprocess.run(
            self._command(arguments),
            cwd=self.root,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in process.stderr, process.stderr
        return process

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start `fleet ARGUMENTS` in a process group of its own, as a terminal does."""
        return subprocess.Popen(
            self._command(arguments),
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={**self._environment, "PYTHONUNBUFFERED": "1"},
        )

    def client(self, service: str) -> Any:
        """A boto3 client of what runs in this clone."""
        supervisor = LocalState(self.root).supervisor()
        assert supervisor is not None
        make: Any = local_session("us-east-1", supervisor.keys).client
        config = Config(retries={"total_max_attempts": 1}, read_timeout=70)
        return make(service, endpoint_url=supervisor.url, config=config)

    def processes(self, name: str = "") -> list[psutil.Process]:
        """Processes that name this clone in their command lines."""
        return [
            process
            for process in psutil.process_iter(["cmdline"])
            if any(str(self.root) in part for part in process.info["cmdline"] or ())
            and name in " ".join(process.info["cmdline"])
        ]

    @property
    def _environment(self) -> dict[str, str]:
        return dict(os.environ) if self.validates else {**os.environ, "CDK_VALIDATION": "false"}

    @staticmethod
    def _command(arguments: tuple[str, ...]) -> list[str]:
        return [str(Path(sys.executable).parent / "fleet"), *arguments]


def make_clone(folder: Path, *, validates: bool = False) -> Clone:
    """Copy the working tree, with the example's weights made.

    With `validates`, synth applies the CDK's own rules as well, as it does for users.
    """
    shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    clone = Clone(folder, validates=validates)
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    example = folder / "examples" / "sentence_embeddings" / "make_weights.py"
    subprocess.run([sys.executable, str(example)], check=True, capture_output=True)
    return clone


def interrupt(process: subprocess.Popen[str]) -> None:
    """Ctrl-C in a terminal: SIGINT to the foreground process group."""
    os.killpg(process.pid, signal.SIGINT)
