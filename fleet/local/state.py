"""What the local fleet keeps on disk: logs, work folders, and who runs it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from fleet.artifacts.files import write_atomically


@dataclass(frozen=True, kw_only=True)
class Supervisor:
    """The background process of the local fleet: its pid and the URL of its embedded AWS."""

    pid: int
    url: str


@dataclass(frozen=True)
class LocalState:
    """The folder `.fleet/local` of one clone."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where everything lies; made when it is first asked for."""
        folder = self.root / ".fleet" / "local"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @property
    def cache(self) -> Path:
        """What may be kept from run to run."""
        return self.folder.parent / "cache"

    def log(self, name: str) -> Path:
        """The log of one part: `supervisor`, `aws`, `cdk`, or an endpoint's name."""
        logs = self.folder / "logs"
        logs.mkdir(exist_ok=True)
        return logs / f"{name}.log"

    def logs(self) -> list[Path]:
        """All logs there are."""
        return sorted((self.folder / "logs").glob("*.log"))

    def supervisor(self) -> Supervisor | None:
        """Who runs the local fleet; None where nobody does, whatever a killed process left behind."""
        with self._lock_file() as lock:
            if _try_lock(lock):
                return None
        try:
            return Supervisor(**json.loads(self._supervisor_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    @contextmanager
    def supervised(self) -> Iterator[None]:
        """Run the local fleet: the lock is held as long as the process lives, so no pid has to be trusted.

        Raises:
            BlockingIOError: somebody runs it already.
        """
        with self._lock_file() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            try:
                yield
            finally:
                self._supervisor_file.unlink(missing_ok=True)

    def announce(self, supervisor: Supervisor) -> None:
        """Say who runs the local fleet."""
        write_atomically(self._supervisor_file, json.dumps(asdict(supervisor)) + "\n")

    @property
    def _supervisor_file(self) -> Path:
        return self.folder / "supervisor.json"

    @contextmanager
    def _lock_file(self) -> Iterator[int]:
        handle = os.open(self.folder / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield handle
        finally:
            os.close(handle)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
