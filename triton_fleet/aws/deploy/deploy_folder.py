"""The folder of a clone in which one environment is deployed: its assembly, its logs, its lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from uuid import uuid4

from triton_fleet.core.files import PRIVATE, private_folder, require_no_link
from triton_fleet.findings import CannotRunError

MAX_TOKEN = 100
"""Characters of the lock's file."""


@dataclass(frozen=True)
class DeployFolder:
    """The folder `.fleet/deploy/ENV` of one clone."""

    root: Path
    environment: str

    @property
    def folder(self) -> Path:
        """The folder, which may not exist."""
        return self.root / PRIVATE / "deploy" / self.environment

    @property
    def assembly(self) -> Path:
        """The output of synth."""
        return self.folder / "cdk.out"

    @property
    def log(self) -> Path:
        """The full output of the CDK, without that of the endpoints' deploys."""
        return self.folder / "cdk.log"

    def endpoint_log(self, endpoint: str) -> Path:
        """The full output of the CDK in the last deploy of an endpoint's stack."""
        return require_no_link(self.root, self.folder / "endpoints" / f"{endpoint}.log")

    def log_hint(self, log: Path) -> str:
        """A sentence that names a log."""
        return f"the full output of the CDK is in {log.relative_to(self.root)}"

    @contextmanager
    def lock(self) -> Iterator[str]:
        """Lock the folder for one deploy; the lock is released however the process ends.

        Yields a token of this folder: the same in each of its deploys, and another one in a copy of it.

        Raises:
            CannotRunError: another deploy has it, or a part of its path is a link.
        """
        private_folder(self.root, "deploy", self.environment)
        for path in (self.folder / "deploy.lock", self.log, self.assembly):
            require_no_link(self.root, path)
        with (self.folder / "deploy.lock").open("a+", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                problem = f"another `fleet deploy --env {self.environment}` is running in this clone"
                raise CannotRunError(problem, "wait until it has ended") from error
            self.log.unlink(missing_ok=True)
            yield _token(lock)


def _token(lock: TextIO) -> str:
    """The token in a locked file; a new one where the file has none, or was copied with its content."""
    file = str(os.fstat(lock.fileno()).st_ino)
    lock.seek(0)
    former, _, token = lock.read(MAX_TOKEN).partition(" ")
    if former != file or not token:
        token = uuid4().hex
        lock.truncate(0)
        lock.write(f"{file} {token}")
        lock.flush()
    return token
