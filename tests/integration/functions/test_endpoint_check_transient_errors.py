"""Errors on the way of the endpoint check's calls, over real connections: what passes, and what does not."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import numpy as np
import pytest
from botocore.config import Config

from endpoint_check.errors import CheckError
from endpoint_check.handler import is_complete
from tests.support.embedded_keys import KEYS
from tests.support.sampled_endpoint import SECONDS, SampledEndpoint, answer, sample
from triton_fleet.awsapi.emulator import local_session

NOT_YET = {"IsComplete": False}
HTML = b"<!DOCTYPE html><html><body>Bad Gateway</body></html>"
SERVED_ANSWER = json.dumps({"EndpointStatus": "InService", "EndpointConfigName": "new"}).encode()


def http(status: int, body: bytes, *, missing_bytes: int = 0, **headers: str) -> bytes:
    """An answer as it is on the wire, without so many bytes at its end."""
    fields = {"Content-Length": str(len(body) + missing_bytes), **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Said\r\nConnection: close\r\n{head}\r\n".encode() + body


def refusal_body(status: int, code: str, **more: object) -> bytes:
    """A refusal as SageMaker words it."""
    body = json.dumps({"__type": code, "message": "no", **more}).encode()
    return http(status, body, x_amzn_ErrorType=code)


def right() -> bytes:
    body, kind = answer({"y": np.zeros(1)})
    return http(200, body, Content_Type=kind)


@cache
def session() -> boto3.Session:
    """Its models of services are read once."""
    return local_session("us-east-1", KEYS)


@dataclass
class Wire:
    """A server that answers each of the two operations with such bytes; none breaks the connection."""

    url: str = ""
    description: bytes | None = field(default_factory=lambda: http(200, SERVED_ANSWER))
    answer: bytes | None = field(default_factory=right)
    seconds: float = 60

    def client(self, service: str, *, config: Config) -> Any:
        """A client with the check's own configuration, but for what takes a minute."""
        quicker = config.merge(Config(read_timeout=self.seconds))
        make: Any = session().client
        return make(service, endpoint_url=self.url, config=quicker)

    def answer_to_look(self) -> dict[str, Any]:
        endpoint = SampledEndpoint()
        event = endpoint.begin_event(endpoint.event(sample()))
        return is_complete(event, endpoint, self.client, {"SECONDS": SECONDS})


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[ThreadingHTTPServer, list[Wire]]]:
    """A server that answers as the last of the list says."""
    wires: list[Wire] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            wire = wires[-1]
            content = wire.answer if self.path.startswith("/endpoints/") else wire.description
            if content is not None:
                self.wfile.write(content)
                self.wfile.flush()
            if wire.seconds < 1:
                self.rfile.read(1)  # until the client has had enough
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server, wires
        server.shutdown()
        thread.join()


@pytest.fixture
def wire(server: tuple[ThreadingHTTPServer, list[Wire]]) -> Wire:
    """Everything is right with it."""
    own, wires = server
    wires.append(Wire(url=f"http://127.0.0.1:{own.server_port}"))
    return wires[-1]


TRANSIENT_ANSWERS = {
    "throttled": refusal_body(400, "ThrottlingException"),
    "not seen by IAM yet": refusal_body(403, "AccessDeniedException"),
    "unavailable": refusal_body(503, "ServiceUnavailable"),
    "failed": refusal_body(500, "InternalFailure"),
    "dependency": refusal_body(530, "InternalDependencyException"),
    "unknown-500": refusal_body(500, "UnknownOperationFailure"),
    "too-many": http(429, b"slowly"),
    **{f"html-{status}": http(status, HTML) for status in (500, 502, 503, 504)},
    **{f"empty-{status}": http(status, b"") for status in (500, 502, 503, 504)},
    "error-breaks-off": http(503, b"{", missing_bytes=9),
    "body-breaks-off": http(200, SERVED_ANSWER[:9], missing_bytes=9),
    "closed": None,
}


def test_what_is_right_passes(wire: Wire) -> None:
    assert wire.answer_to_look()["IsComplete"] is True


@pytest.mark.parametrize("content", TRANSIENT_ANSWERS.values(), ids=TRANSIENT_ANSWERS)
@pytest.mark.parametrize("operation", ["description", "answer"])
def test_what_passes_by_itself_is_looked_at_again(wire: Wire, operation: str, content: bytes | None) -> None:
    setattr(wire, operation, content)
    assert wire.answer_to_look() == NOT_YET
    setattr(wire, operation, getattr(Wire(), operation))
    assert wire.answer_to_look()["IsComplete"] is True


@pytest.mark.parametrize(
    "content",
    [b"", http(200, b"{", missing_bytes=9), http(503, b"{", missing_bytes=9)],
    ids=["all", "rest", "refusal"],
)
@pytest.mark.parametrize("operation", ["description", "answer"])
def test_what_takes_too_long_is_looked_at_again(wire: Wire, operation: str, content: bytes) -> None:
    wire.seconds = 0.1
    setattr(wire, operation, content)
    assert wire.answer_to_look() == NOT_YET


def test_an_endpoint_of_the_api_that_is_not_there_is_looked_at_again(wire: Wire) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # without listening
        wire.url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        assert wire.answer_to_look() == NOT_YET


def test_a_model_that_fails_is_no_service_that_fails(wire: Wire) -> None:
    wire.answer = refusal_body(424, "ModelError", OriginalStatusCode=500, OriginalMessage="boom")
    with pytest.raises(CheckError, match="the answer has status 500, expected 200: boom"):
        wire.answer_to_look()


@pytest.mark.parametrize("operation", ["description", "answer"])
def test_a_refusal_for_good_fails_at_once(wire: Wire, operation: str) -> None:
    setattr(wire, operation, refusal_body(400, "ValidationException"))
    with pytest.raises(CheckError, match="ValidationException"):
        wire.answer_to_look()
