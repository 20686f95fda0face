"""The gateway answers as SageMaker's runtime does; a plain HTTP server stands in for the container."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from urllib3 import HTTPConnectionPool
from werkzeug.serving import make_server

from endpoint_check.call import CALLER
from tests.support.embedded_keys import SESSION
from tests.support.endpoint_ids import SignedFor
from triton_fleet.local.containers import RESTART_MESSAGE, SECONDS_TO_ANSWER, ModelRefusal, Refusal, Route
from triton_fleet.local.gateway import MAX_BODY_BYTES, Gateway


class Way:
    """The way to a container that may be down, busy with loading, or able to make room."""

    variant = "AllTraffic"
    differences: ClassVar[list[str]] = []
    gauges: ClassVar[dict[str, float]] = {}

    def __init__(self, port: int = 1, refusal: Exception | None = None, room: int = 0) -> None:
        self.pool, self.refusal, self.room = (
            HTTPConnectionPool("127.0.0.1", port, retries=False),
            refusal,
            room,
        )
        self.metrics: list[tuple[str, float]] = []

    def record(self, measure: str, value: float) -> None:
        self.metrics.append((measure, value))

    def report(self) -> dict[str, object]:
        return {}

    def close(self) -> None:
        """Nobody waits."""

    @contextmanager
    def route(self, target: str | None, seconds: float, **_: bool) -> Iterator[Route]:
        if self.refusal:
            raise self.refusal
        room = {"X-Room": str(self.room)}
        headers = room if target is None else {**room, "X-Amzn-SageMaker-Target-Model": target}
        yield Route(pool=self.pool, path="/invocations", headers=headers)

    def make_room(self, target: str | None, seconds: float, *, since: int) -> bool:
        self.room += 1
        return self.room == 1

    def values(self) -> dict[str, float]:
        """The last value of each measure."""
        return dict(self.metrics)


class Container(BaseHTTPRequestHandler):
    """Stand-in for a container: its answer is chosen by the body."""

    release = threading.Event()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if body == b"slow":
            self.release.wait(10)
        if body == b"trickle":
            self.trickle()
        elif body != b"hang up":
            self.answer(body)

    def answer(self, body: bytes) -> None:
        status = int(body) if body.isdigit() else 200
        if body == b"tight":
            status = 507 if self.headers["X-Room"] == "0" else 200
        answer = b'{"error": "said so"}' if status != 200 else b"/".join([self.path.encode(), body])
        self.send_response(status)
        self.send_header("Content-Type", self.headers["Content-Type"])
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def trickle(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.release.wait(0.05):
            self.wfile.write(b".")

    def log_message(self, format: str, *args: Any) -> None:
        """Be quiet."""


WAYS: dict[str, Way] = {}


@pytest.fixture(scope="module", params=[SECONDS_TO_ANSWER])
def runtime(request: pytest.FixtureRequest) -> Iterator[Any]:
    container = ThreadingHTTPServer(("127.0.0.1", 0), Container)
    targets = {
        "embed": Way(container.server_port),
        "tight": Way(container.server_port),
        "restarting": Way(refusal=ModelRefusal(0, RESTART_MESSAGE)),
        "loading": Way(refusal=Refusal(429, "ModelNotReadyException", "Wait.")),
    }
    WAYS.clear()
    WAYS.update(targets)
    gateway = Gateway(
        lambda endpoint: nullcontext(WAYS.get(endpoint.name)),
        seconds_to_answer=request.param,
    )
    server = make_server("127.0.0.1", 0, SignedFor(gateway), threaded=True)
    Container.release.clear()
    threads = [threading.Thread(target=item.serve_forever, args=[0.01]) for item in (container, server)]
    for thread in threads:
        thread.start()
    yield boto3.client(
        "sagemaker-runtime",
        endpoint_url=f"http://127.0.0.1:{server.server_port}",
        region_name="us-east-1",
        **SESSION,
        config=Config(retries={"total_max_attempts": 1}),
    )
    Container.release.set()
    for item in (server, container):
        item.shutdown()
        item.server_close()
    for thread in threads:
        thread.join()


def refusal(runtime: Any, body: bytes, endpoint: str = "embed") -> dict[str, Any]:
    with pytest.raises(ClientError) as error:
        runtime.invoke_endpoint(EndpointName=endpoint, Body=body, ContentType="text/plain")
    return dict(error.value.response)


def test_an_answer_comes_back_with_its_type_and_variant(runtime: Any) -> None:
    answer = runtime.invoke_endpoint(EndpointName="embed", Body=b"hello", ContentType="text/x-hello")
    assert answer["Body"].read() == b"/invocations/hello"
    assert (answer["ContentType"], answer["InvokedProductionVariant"]) == ("text/x-hello", "AllTraffic")


def test_an_unknown_endpoint_is_a_validation_error(runtime: Any) -> None:
    said_refusal = refusal(runtime, b"x", "images")
    assert said_refusal["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert said_refusal["Error"]["Code"] == "ValidationError"
    assert said_refusal["Error"]["Message"] == "Endpoint images of account 123456789012 not found."


@pytest.mark.parametrize(("status", "kind"), [(400, "client"), (500, "server"), (507, "server")])
def test_the_containers_refusal_is_a_model_error_with_its_status_and_words(
    runtime: Any, status: int, kind: str
) -> None:
    said_refusal = refusal(runtime, str(status).encode())
    assert said_refusal["ResponseMetadata"]["HTTPStatusCode"] == 424
    assert said_refusal["Error"]["Code"] == "ModelError"
    assert f'Received {kind} error ({status}) from primary with message "' in said_refusal["Error"]["Message"]
    assert said_refusal["OriginalStatusCode"] == status
    assert said_refusal["OriginalMessage"] == '{"error": "said so"}'
    assert said_refusal["LogStreamArn"].endswith(":123456789012:log-group:/aws/sagemaker/Endpoints/embed")


@pytest.mark.parametrize("runtime", [0.3], indirect=True)
@pytest.mark.parametrize("body", [b"slow", b"trickle"])
def test_an_answer_that_takes_too_long_is_a_model_error(runtime: Any, body: bytes) -> None:
    said_refusal = refusal(runtime, body)
    assert said_refusal["Error"]["Code"] == "ModelError"
    assert said_refusal["OriginalMessage"].startswith(
        "Your invocation timed out while waiting for a response"
    )


def test_a_container_that_breaks_the_connection_is_a_model_error(runtime: Any) -> None:
    assert refusal(runtime, b"hang up")["Error"]["Code"] == "ModelError"


def test_a_container_that_is_being_restarted_is_a_model_error(runtime: Any) -> None:
    assert refusal(runtime, b"x", "restarting")["Error"]["Code"] == "ModelError"


@pytest.mark.parametrize("size", [6_500_000, MAX_BODY_BYTES])
def test_a_body_of_up_to_25_mb_is_passed_on(runtime: Any, size: int) -> None:
    answer = runtime.invoke_endpoint(EndpointName="embed", Body=b"x" * size, ContentType="text/plain")
    assert len(answer["Body"].read()) == size + len("/invocations/")


def test_an_answer_in_parts_is_refused_with_the_way_out(runtime: Any) -> None:
    with pytest.raises(ClientError, match="ValidationError.*deploy the endpoint to an account"):
        runtime.invoke_endpoint_with_response_stream(EndpointName="embed", Body=b"x")


def test_a_larger_body_is_refused(runtime: Any) -> None:
    said_refusal = refusal(runtime, b"x" * 26_300_000)
    assert said_refusal["ResponseMetadata"]["HTTPStatusCode"] == 413
    assert said_refusal["Error"]["Message"] == "HTTP content length exceeded 26214400 bytes."


def test_a_target_that_is_not_loaded_yet_is_told_as_sagemaker_tells_it(runtime: Any) -> None:
    said_refusal = refusal(runtime, b"x", "loading")
    assert said_refusal["ResponseMetadata"]["HTTPStatusCode"] == 429
    assert said_refusal["Error"]["Code"] == "ModelNotReadyException"


def test_a_lack_of_memory_is_tried_again_once_where_room_could_be_made(runtime: Any) -> None:
    answer = runtime.invoke_endpoint(EndpointName="tight", Body=b"tight", ContentType="text/plain")
    assert answer["Body"].read() == b"/invocations/tight"
    assert refusal(runtime, b"507", "tight")["OriginalStatusCode"] == 507
    assert WAYS["tight"].room == 2


def test_what_the_check_of_a_deploy_calls_is_not_counted(runtime: Any) -> None:
    WAYS["embed"].metrics.clear()
    with pytest.raises(ClientError):
        runtime.invoke_endpoint(EndpointName="embed", Body=b"400", InferenceId=CALLER)
    assert WAYS["embed"].metrics == []


@pytest.mark.parametrize(
    ("endpoint", "body", "errors"),
    [
        ("embed", b"x", (0.0, 0.0, 0.0)),
        ("embed", b"400", (1.0, 0.0, 1.0)),
        ("embed", b"503", (0.0, 1.0, 1.0)),
        ("embed", b"hang up", (0.0, 1.0, 1.0)),
        ("loading", b"x", (1.0, 0.0, 0.0)),
    ],
)
def test_every_invocation_is_counted_with_its_errors_and_times(
    runtime: Any, endpoint: str, body: bytes, errors: tuple[float, float, float]
) -> None:
    WAYS[endpoint].metrics.clear()
    with suppress(ClientError):
        runtime.invoke_endpoint(EndpointName=endpoint, Body=body, ContentType="text/plain")
    values = WAYS[endpoint].values()
    assert (values["invocations"], values["invocations_per_instance"]) == (1.0, 1.0)
    assert (values["errors_4xx"], values["errors_5xx"], values["model_errors"]) == errors
    assert ("model_latency" in values) == (endpoint == "embed")
    assert all(value >= 0 for value in values.values())
