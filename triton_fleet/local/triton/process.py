"""A process with helpers of its own that never outlive it, however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from triton_fleet.local.triton.network import PrivateNetwork
from triton_fleet.process_guard import start_with_guard

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where POSIX shared memory is on Linux


class ProcessGroup:
    """A command in a session of its own; when it is gone its children and shared memory are removed, too."""

    def __init__(
        self,
        command: list[str],
        environment: Mapping[str, str],
        *,
        log: Path,
        cwd: Path,
        shm_prefix: str,
        network: PrivateNetwork | None = None,
    ) -> None:
        """Start the command, in a network of its own if there is one; its output is appended to `log`."""
        self.dead = threading.Event()
        """Set once the process and everything that it left behind are gone."""
        self.returncode: int | None = None
        self.is_stopped = False
        """Whether `stop` has ended it, and not the process itself or another one."""
        self.shm_prefix = shm_prefix
        self._lock = threading.Lock()
        self._network = network
        with log.open("ab") as output, ExitStack() as stack:
            descriptors: list[int] = []
            if network is not None:
                command, descriptor = stack.enter_context(network.start_within(command))
                descriptors.append(descriptor)
            self._process, self._guard = start_with_guard(
                command,
                leaves=str(SHARED_MEMORY / shm_prefix),
                pass_fds=descriptors,
                env=dict(environment),
                cwd=cwd,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.pid = self._process.pid
        threading.Thread(target=self._bury, name=f"triton-{self.pid}", daemon=True).start()

    def stop(self, grace: float) -> None:
        """Ask the process to end, kill the whole group after `grace` seconds; return when it is gone."""
        self._signal(signal.SIGTERM)
        if not self.dead.wait(grace):
            self._signal(signal.SIGKILL)
            self.dead.wait()

    def _signal(self, number: signal.Signals) -> None:
        with self._lock:
            end = os.WEXITED | os.WNOWAIT | os.WNOHANG
            if self.returncode is None and os.waitid(os.P_PID, self.pid, end) is None:
                self.is_stopped = True
                os.kill(self.pid, number)

    def _bury(self) -> None:
        # Not reaped yet: as long as the process is a zombie, no other process or group has its number.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        with self._lock:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
            self._guard.kill()
            self._guard.communicate()
            self.returncode = self._process.wait()
        for region in SHARED_MEMORY.glob(f"{self.shm_prefix}*"):
            region.unlink(missing_ok=True)
        if self._network is not None:
            self._network.close()
        self.dead.set()
