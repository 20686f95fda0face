"""What the local fleet keeps on disk: logs, work folders, and who runs it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from fleet.artifacts.files import write_atomically
from fleet.findings import CannotRunError


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
        """The log of one part: `supervisor`, `aws` or `cdk`."""
        return _log_file(self.folder / "logs", name)

    def endpoint_log(self, endpoint: str) -> Path:
        """The log of an endpoint's Triton."""
        return _log_file(self.folder / "logs" / "endpoints", endpoint)

    def logs(self) -> dict[str, Path]:
        """All logs there are, by the name of the part or the endpoint."""
        logs = self.folder / "logs"
        return {file.stem: file for file in sorted([*logs.glob("endpoints/*.log"), *logs.glob("*.log")])}

    def supervisor(self) -> Supervisor | None:
        """Who runs the local fleet; None where nobody does, whatever a killed process left behind."""
        with _lock_file(self._lock) as lock:
            if _try_lock(lock, fcntl.LOCK_SH):
                return None
        try:
            return Supervisor(**json.loads(self._supervisor_file.read_text()))
        except (OSError, ValueError, TypeError):
            return None

    @contextmanager
    def supervised(self) -> Iterator[Callable[[], bool]]:
        """Run the local fleet: the lock is held as long as the process lives, so no pid has to be trusted.

        Whoever looks whether it runs holds the lock for a moment, so it is waited for. What is given tells
        whether the lock file is still there: without it nobody finds this process again.
        """
        with _lock_file(self._lock) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                yield lambda: _is_file_of(lock, self._lock)
            finally:
                self._supervisor_file.unlink(missing_ok=True)

    @contextmanager
    def deploying(self) -> Iterator[None]:
        """Deploy to the local fleet, alone.

        Raises:
            CannotRunError: somebody else does.
        """
        with _lock_file(self.folder / "up.lock") as lock:
            if not _try_lock(lock, fcntl.LOCK_EX):
                raise CannotRunError("another `fleet local up` is at work here", "wait until it is done")
            yield

    def announce(self, supervisor: Supervisor) -> None:
        """Say who runs the local fleet."""
        write_atomically(self._supervisor_file, json.dumps(asdict(supervisor)) + "\n")

    @property
    def _lock(self) -> Path:
        return self.folder / "supervisor.lock"

    @property
    def _supervisor_file(self) -> Path:
        return self.folder / "supervisor.json"


@contextmanager
def _lock_file(file: Path) -> Iterator[int]:
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def _is_file_of(handle: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), file.stat())
    except FileNotFoundError:
        return False


def _try_lock(handle: int, kind: int) -> bool:
    try:
        fcntl.flock(handle, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _log_file(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{name}.log"
