"""Files of the local fleet: logs, work folders, and who runs it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import urllib3

from triton_fleet.awsapi.emulator import Keys, ask
from triton_fleet.core.files import PRIVATE, private_folder, replace_file, require_no_link
from triton_fleet.findings import CannotRunError
from triton_fleet.spec.environment import LOCAL

SECONDS_A_TRY, TRIES = 0.1, 50


@dataclass(frozen=True, kw_only=True)
class Supervisor:
    """The background process of the local fleet: its pid, where its embedded AWS is, and what it takes."""

    pid: int
    url: str
    account: str
    region: str
    keys: Keys

    def ask(self, method: str, path: str, *, seconds: float) -> urllib3.BaseHTTPResponse:
        """The answer to a request that is not of AWS's API.

        Raises:
            urllib3.exceptions.HTTPError: there is no answer within the time.
        """
        return ask(method, f"{self.url}{path}", region=self.region, keys=self.keys, seconds=seconds)

    def __post_init__(self) -> None:
        """Raises ValueError where it was read from what no supervisor wrote."""
        if not isinstance(self.pid, int) or self.pid < 1 or not isinstance(self.url, str):
            raise ValueError("its pid or its url is invalid")


@dataclass(frozen=True)
class LocalState:
    """The folder `.fleet/local` of one clone."""

    root: Path

    @property
    def folder(self) -> Path:
        """Where everything is; it need not exist."""
        return self.root / PRIVATE / "local"

    @property
    def cache(self) -> Path:
        """Files that may stay from run to run."""
        return self.folder.parent / "cache"

    @property
    def temporary(self) -> Path:
        """Temporary files of the background process."""
        return self.folder / "tmp"

    def log(self, name: str) -> Path:
        """The log of one part: `supervisor`, `aws` or `cdk`."""
        return self._log_file(name)

    def deploy_log(self, endpoint: str) -> Path:
        """The CDK's output in the last deploy of an endpoint's stack."""
        return self._log_file(endpoint, "cdk")

    def endpoint_log(self, name: str) -> Path:
        """The log of an endpoint's Triton, by its `log_name`."""
        *folders, endpoint = name.split("/")
        return self._log_file(endpoint, "endpoints", *folders)

    def logs(self) -> dict[str, Path]:
        """All logs there are, by the name of the part, by an endpoint's `log_name`, or by `cdk/ENDPOINT`."""
        logs = self.folder / "logs"
        return {
            file.relative_to(folder).with_suffix("").as_posix(): file
            for folder, pattern in ((logs / "endpoints", "**/*.log"), (logs, "*.log"), (logs, "cdk/*.log"))
            for file in sorted(folder.glob(pattern))
        }

    def is_running(self) -> bool:
        """Whether a process runs the local fleet: it keeps the lock as long as it lives."""
        require_no_link(self.root, self._lock)
        with suppress(FileNotFoundError), self._lock.open("rb") as lock:
            return not _try_lock(lock.fileno(), fcntl.LOCK_SH)
        return False

    def supervisor(self) -> Supervisor | None:
        """Who runs the local fleet; None where it does not run, or is still starting.

        Raises:
            CannotRunError: it runs, and the file that names its process is damaged.
        """
        if not self.is_running():
            return None
        try:
            content = self.supervisor_file.read_bytes()
        except FileNotFoundError:
            return None
        try:
            keys = Keys(**json.loads(self.keys_file.read_bytes()))
            return Supervisor(**json.loads(content), keys=keys)
        except (OSError, ValueError, TypeError) as error:
            # psutil is needed for the message alone, and every command reads the state.
            from triton_fleet.local.supervisor_process import state_problem

            raise state_problem(self.supervisor_file, f"is damaged ({error})", self.root) from error

    @contextmanager
    def hold_lock(self, stop: threading.Event) -> Iterator[Callable[[], bool]]:
        """Run the local fleet: the lock is held as long as the process lives, so no pid has to be trusted.

        The function returns whether the lock file still exists: without it no command finds this process.

        Raises:
            CannotRunError: another process keeps the lock for more than a few seconds, `stop` was set, or a
                folder of the state is a link.
        """
        for file in (*self.folder.glob("*"), *self.cache.glob("*")):
            require_no_link(self.root, file)
        with self._open_lock(self._lock) as lock:
            # Whoever looks whether the fleet runs holds the lock for a moment.
            tries = (_try_lock(lock, fcntl.LOCK_EX) or stop.wait(SECONDS_A_TRY) for _ in range(TRIES))
            if not any(tries) or stop.is_set():
                problem = "another process has locked the local fleet"
                raise CannotRunError(problem, "run `fleet local down` first")
            self._remove_leftovers()
            self.temporary.mkdir()
            try:
                yield lambda: _is_file_of(lock, self._lock)
            finally:
                if _is_file_of(lock, self._lock):
                    self._remove_leftovers()

    def clean(self) -> None:
        """Remove what a background process left that was killed; nothing while one runs."""
        if not self.folder.exists():
            return
        with self._open_lock(self._lock) as lock:
            if _try_lock(lock, fcntl.LOCK_EX):
                self._remove_leftovers()

    def _remove_leftovers(self) -> None:
        """Remove the data of the background process; only who has its lock may."""
        for file in (self.supervisor_file, self.keys_file):
            file.unlink(missing_ok=True)
        for folder in (self.temporary, self.work):
            shutil.rmtree(folder, ignore_errors=True)

    @contextmanager
    def lock_deploys(self) -> Iterator[None]:
        """Deploy to the local fleet, alone.

        Raises:
            CannotRunError: another process does.
        """
        with self._open_lock(self.folder / "up.lock") as lock:
            if not _try_lock(lock, fcntl.LOCK_EX):
                raise CannotRunError("another `fleet local up` is running here", "wait until it has ended")
            yield

    def announce(self, supervisor: Supervisor) -> None:
        """Write who runs the local fleet; its keys in a file that only this user can read."""
        fields = asdict(supervisor)
        replace_file(self.keys_file, json.dumps(fields.pop("keys")) + "\n", mode=0o600, root=self.root)
        replace_file(self.supervisor_file, json.dumps(fields) + "\n", root=self.root)

    @property
    def supervisor_file(self) -> Path:
        """The file that names the process of the local fleet."""
        return self.folder / "supervisor.json"

    @property
    def keys_file(self) -> Path:
        """Where the keys of the embedded AWS are while it runs."""
        return self.folder / "keys.json"

    @property
    def work(self) -> Path:
        """The unpacked archives and staged models of the endpoints, a folder for each."""
        return self.folder / "endpoints"

    @property
    def _lock(self) -> Path:
        return self.folder / "supervisor.lock"

    @contextmanager
    def _open_lock(self, file: Path) -> Iterator[int]:
        private_folder(self.root, "local")
        require_no_link(self.root, file)
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield handle
        finally:
            os.close(handle)

    def _log_file(self, name: str, *kind: str) -> Path:
        file = require_no_link(self.root, private_folder(self.root, "local", "logs", *kind) / f"{name}.log")
        file.touch(mode=0o600)
        file.chmod(0o600)  # of an earlier version
        return file


def log_name(environment: str, endpoint: str) -> str:
    """The name by which `fleet local logs` finds the log of an endpoint's Triton."""
    return endpoint if environment == LOCAL else f"{environment}/{endpoint}"


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
