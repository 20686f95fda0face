"""Where the deploys of one environment from this clone keep what they make."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from fleet.findings import CannotRunError


@dataclass(frozen=True)
class DeployFolder:
    """The folder `.fleet/deploy/ENV` of one clone."""

    root: Path
    environment: str

    @property
    def folder(self) -> Path:
        """Where everything lies, whether or not it is there."""
        return self.root / ".fleet" / "deploy" / self.environment

    @property
    def assembly(self) -> Path:
        """What synth makes."""
        return self.folder / "cdk.out"

    @property
    def log(self) -> Path:
        """All that the CDK CLI printed."""
        return self.folder / "cdk.log"

    @contextmanager
    def deploying(self) -> Iterator[None]:
        """Deploy from here, alone: what ends in whatever way leaves the folder to the next.

        Raises:
            CannotRunError: somebody else does.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "deploy.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                problem = f"another `fleet deploy --env {self.environment}` is at work here"
                raise CannotRunError(problem, "wait until it is done") from error
            self.log.unlink(missing_ok=True)
            yield
