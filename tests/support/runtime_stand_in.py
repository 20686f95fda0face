"""A stand-in for SageMaker's runtime and its container: a model that answers its inputs as its outputs."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from urllib3 import HTTPConnectionPool, connection_from_url
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

Answer = Callable[[bytes, str], Response]
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="


def same(body: bytes, content_type: str) -> Response:
    """The request's tensors, described as outputs."""
    size = int(content_type.removeprefix(BINARY)) if content_type.startswith(BINARY) else len(body)
    header = json.dumps({"outputs": json.loads(body[:size])["inputs"]}).encode()
    answered_as = f"{BINARY}{len(header)}" if content_type.startswith(BINARY) else "application/json"
    return Response(header + body[size:], content_type=answered_as)


def refusal(status: int, code: str, message: str = "said so", **more: object) -> Answer:
    """An error as SageMaker's runtime answers it."""

    def answer(_body: bytes, _content_type: str) -> Response:
        response = Response(json.dumps({"message": message, **more}), status=status)
        response.headers["x-amzn-ErrorType"] = code
        return response

    return answer


def tensor_answer(body: bytes, content_type: str = "application/json", status: int = 200) -> Answer:
    """One body, whatever was asked."""
    return lambda _body, _content_type: Response(body, status=status, content_type=content_type)


@dataclass
class RuntimeStandIn:
    """Gives the next of `answers`, else the request's own tensors; `requests` are those that came."""

    answers: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    url: str = ""

    @property
    def pool(self) -> HTTPConnectionPool:
        """Connections to it, as to a Triton."""
        return connection_from_url(self.url, retries=False)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        body = request.get_data(cache=True)
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else same
        return answer(body, request.headers["Content-Type"])(environ, start_response)

    @property
    def last_request(self) -> dict[str, object]:
        """The JSON of the last request."""
        request = self.requests[-1]
        body, content_type = request.get_data(), request.headers["Content-Type"]
        size = int(content_type.removeprefix(BINARY)) if content_type.startswith(BINARY) else len(body)
        header: dict[str, object] = json.loads(body[:size])
        return header


@contextmanager
def served(application: Callable[[WSGIEnvironment, StartResponse], Iterable[bytes]]) -> Iterator[int]:
    """Serve an application on a free port of loopback."""
    server = make_server("127.0.0.1", 0, application, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def runtime_stand_in() -> Iterator[RuntimeStandIn]:
    """A stand-in that is being served."""
    stand_in = RuntimeStandIn()
    with served(stand_in) as port:
        stand_in.url = f"http://127.0.0.1:{port}"
        yield stand_in
