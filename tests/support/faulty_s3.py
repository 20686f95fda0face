"""A proxy in front of the embedded S3 that fails requests as a network or an overloaded S3 would."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

ALWAYS = 1_000_000
IMMEDIATE_CLOSE = struct.pack("ii", 1, 0)
"""A socket that lingers so is closed by a reset."""


@dataclass
class Request:
    """One request that has come."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""

    def is_part(self, number: int) -> bool:
        """Whether it uploads that part."""
        return self.method == "PUT" and f"partNumber={number}&" in f"{self.path}&"


@dataclass
class Answer:
    """The answer."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    is_cut: bool = False


RequestMatch = Callable[[Request], bool]


@dataclass
class Fault:
    """The fate of the first `times` of the requests that are meant.

    `answer` of none breaks the connection in the middle of the request, one that gives none after it.
    """

    matches: RequestMatch
    answer: Callable[[Request], Answer | None] | None
    times: int
    hits: int = 0


@dataclass
class FaultyS3:
    """The proxy as a test drives it."""

    url: str
    upstream: str
    requests: list[Request] = field(default_factory=list)
    _faults: list[Fault] = field(default_factory=list)
    _changes: list[tuple[RequestMatch, Callable[[Answer], Answer]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def slow_down(self, expected_value: RequestMatch, times: int = 1) -> Fault:
        """Answer 503 SlowDown."""
        return self.refuse(expected_value, 503, "SlowDown", times)

    def fail(self, expected_value: RequestMatch, times: int = ALWAYS) -> Fault:
        """Answer 500."""
        return self.refuse(expected_value, 500, "InternalError", times)

    def deny(self, expected_value: RequestMatch) -> Fault:
        """Answer 403."""
        return self.refuse(expected_value, 403, "AccessDenied")

    def refuse(self, expected_value: RequestMatch, status: int, code: str, times: int = ALWAYS) -> Fault:
        """Answer with an error of S3; nothing reaches S3 itself."""
        return self._add(expected_value, lambda _: error_of(status, code), times)

    def alter(self, expected_value: RequestMatch, change: Callable[[bytes], bytes]) -> Fault:
        """Let other bytes reach S3 than were sent."""
        return self._add(
            expected_value, lambda request: self.forward(replace(request, body=change(request.body))), ALWAYS
        )

    def lose_answer(self, expected_value: RequestMatch, times: int = 1) -> Fault:
        """Let S3 do what is asked, and break the connection before it says so."""

        def end_request(request: Request) -> None:
            self.forward(request)

        return self._add(expected_value, end_request, times)

    def reset(self, expected_value: RequestMatch, times: int = 1) -> Fault:
        """Break the connection in the middle of the request's body."""
        return self._add(expected_value, None, times)

    def cut(self, expected_value: RequestMatch, times: int = 1) -> Fault:
        """Break the connection in the middle of an answer with a body."""
        return self._add(expected_value, lambda request: replace(self.forward(request), is_cut=True), times)

    def hold(self, expected_value: RequestMatch) -> tuple[threading.Event, threading.Event]:
        """Let one request wait; the events tell that it came, and let it go on to S3."""
        came, may_go = threading.Event(), threading.Event()

        def wait(request: Request) -> Answer:
            came.set()
            may_go.wait()
            return self.forward(request)

        self._add(expected_value, wait, 1)
        return came, may_go

    def change_answers(self, expected_value: RequestMatch, change: Callable[[Answer], Answer]) -> None:
        """Alter what S3 says."""
        self._changes.append((expected_value, change))

    def forget(self) -> None:
        """Be as on the first day."""
        with self._lock:
            self.requests.clear()
            self._faults.clear()
            self._changes.clear()

    def count(self, expected_value: RequestMatch) -> int:
        """How many requests of that kind have come."""
        with self._lock:
            return sum(map(expected_value, self.requests))

    def fault_of(self, request: Request) -> Fault | None:
        """The fault of a request that has just come, if any."""
        with self._lock:
            self.requests.append(request)
            faults = (fault for fault in self._faults if fault.hits < fault.times and fault.matches(request))
            fault = next(faults, None)
            if fault is not None:
                fault.hits += 1
            return fault

    def forward(self, request: Request) -> Answer:
        """Ask S3 itself."""
        place = urlsplit(self.upstream)
        connection = HTTPConnection(place.hostname or "", place.port)
        try:
            connection.request(request.method, request.path, request.body, request.headers)
            response = connection.getresponse()
            answer = Answer(response.status, response.getheaders(), response.read())
        finally:
            connection.close()
        for expected_values, change in self._changes:
            answer = change(answer) if expected_values(request) else answer
        return answer

    def _add(
        self, expected_value: RequestMatch, answer: Callable[[Request], Answer | None] | None, times: int
    ) -> Fault:
        fault = Fault(expected_value, answer, times)
        self._faults.append(fault)
        return fault


@contextmanager
def faulty_s3(upstream: str) -> Iterator[FaultyS3]:
    """A proxy in front of an S3 at that URL."""

    class Handler(_Handler):
        """Of this proxy."""

    server = _Server(("127.0.0.1", 0), Handler)
    Handler.proxy = FaultyS3(f"http://localhost:{server.server_port}", upstream)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield Handler.proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    proxy: FaultyS3

    def _handle(self) -> None:
        headers = {name: value for name, value in self.headers.items() if name.lower() != "expect"}
        request = Request(self.command, self.path, headers)
        length = int(self.headers.get("Content-Length", 0))
        fault = self.proxy.fault_of(request)
        if fault is not None and fault.answer is None:
            self.rfile.read(length // 2)
            self._break()
            return
        request.body = self.rfile.read(length)
        if fault is None or fault.answer is None:
            answer: Answer | None = self.proxy.forward(request)
        else:
            answer = fault.answer(request)
        if answer is None:
            self._break()
            return
        self.send_response(answer.status)
        for name, value in answer.headers:
            if name.lower() not in {"content-length", "connection", "transfer-encoding", "date", "server"}:
                self.send_header(name, value)
        size = (
            dict(answer.headers).get("Content-Length", "0") if request.method == "HEAD" else len(answer.body)
        )
        self.send_header("Content-Length", str(size))
        self.end_headers()
        self.wfile.write(answer.body[: len(answer.body) // 2] if answer.is_cut else answer.body)
        if answer.is_cut:
            self.close_connection = True

    def _break(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, IMMEDIATE_CLOSE)
        self.close_connection = True
        self.connection.close()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _handle

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""


def error_of(status: int, code: str) -> Answer:
    """An error as S3 says it."""
    return Answer(
        status, [], f"<Error><Code>{code}</Code><Message>as the test wants it</Message></Error>".encode()
    )
