"""A network that one server has for itself: whatever it listens on, only who started it can connect.

Triton's SageMaker port has no option for its address, and every client of it can load any folder as a model.
"""

from __future__ import annotations

import errno
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from urllib3 import HTTPConnectionPool
from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from triton_fleet.catalog.data_file import data_file
from triton_fleet.findings import CannotRunError
from triton_fleet.local.triton import namespace

LOOPBACK = "127.0.0.1"
CALLS = 256
"""Connections of a pool that are kept for the next calls."""
_SCRIPT = str(Path(namespace.__file__))
_SECONDS_TO_ANSWER = 30.0
"""A machine that swaps may take long; after that, a late answer would be mistaken for the next one."""


class PrivateNetwork:
    """A network namespace, which begins with the command that runs in it and ends with its last process.

    Its sockets are made inside and connected outside, so a call costs what it costs on loopback. May be used
    from several threads.
    """

    def __init__(self, on_loss: Callable[[], None]) -> None:
        """Args: what is called when sockets are requested and no process in the namespace gives any."""
        self._ours: socket.socket | None = None
        self._lock = threading.Lock()
        self._on_loss = on_loss

    @contextmanager
    def start_within(self, command: Sequence[str]) -> Iterator[tuple[list[str], int]]:
        """Start a process within: the command line that becomes the command, and what it has to inherit.

        A network is for one process.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # Not as arguments: the process that stays there would look like a second server.
            ours.send(json.dumps(list(command)).encode())
            self._ours = ours
            yield [sys.executable, "-I", "-S", _SCRIPT, str(theirs.fileno())], theirs.fileno()

    def close(self) -> None:
        """End the process that gives sockets; connections stay open."""
        with self._lock:
            if self._ours is not None:
                self._ours.close()

    def connect(self, port: int, timeout: float | None = None) -> socket.socket:
        """A connection to a port of the network's loopback.

        Raises:
            OSError: no process listens there, or the network is gone.
        """
        connection = self._socket()
        try:
            connection.settimeout(timeout)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.connect((LOOPBACK, port))
        except BaseException:
            connection.close()
            raise
        return connection

    def pool(self, port: int) -> HTTPConnectionPool:
        """Connections by HTTP to a port of the network."""
        return _Pool(LOOPBACK, port, maxsize=CALLS, retries=False, network=self)

    def _socket(self) -> socket.socket:
        try:
            with self._lock:
                if self._ours is None:
                    raise ConnectionRefusedError("there is no process in the network yet")
                self._ours.settimeout(_SECONDS_TO_ANSWER)
                self._ours.send(b"s")
                answer, descriptors, _, _ = socket.recv_fds(self._ours, 1, 1, socket.MSG_CMSG_CLOEXEC)
        except OSError as error:
            self._on_loss()
            raise ConnectionRefusedError("the network of the server is gone") from error
        if answer and not descriptors:
            # The server is well: this process may open no more files, and the next call may find room again.
            raise OSError(errno.EMFILE, "this process has too many open files for another connection")
        if not answer:
            self._on_loss()
            raise ConnectionRefusedError("the network of the server is gone")
        return socket.socket(fileno=descriptors[0])


class _Connection(HTTPConnection):
    def __init__(self, *arguments: Any, network: PrivateNetwork, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._network = network

    def _new_conn(self) -> socket.socket:
        try:
            return self._network.connect(int(self.port or 0), self.timeout)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"port {self.port} does not answer") from error
        except OSError as error:
            raise NewConnectionError(self, f"port {self.port}: {error}") from error


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


def check_network() -> None:
    """See that this machine gives a server a network of its own.

    Raises:
        CannotRunError: it does not; the remedy is the one for the reason.
    """
    network = PrivateNetwork(on_loss=lambda: None)
    with network.start_within(["true"]) as (command, descriptor):
        process = subprocess.Popen(
            command,
            pass_fds=[descriptor],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
    code = process.wait()
    network.close()
    output = process.communicate()[1].strip()
    if code == 0:
        return
    problem = (
        "this machine gives Triton no network namespace, and in the machine's own network others could have"
        f" it run their code: {output.splitlines()[-1] if output else f'exit code {code}'}"
    )
    raise CannotRunError(problem, _remedy())


def _remedy() -> str:
    facts = data_file("namespaces.yaml")
    for setting in facts["settings"]:
        file = Path(setting["file"])
        if file.is_file() and file.read_text().strip() == str(setting["forbids"]):
            return str(setting["remedy"])
    return str(facts["otherwise"])
