"""The gateway answers as SageMaker's runtime does; a plain HTTP server stands in for the container."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from werkzeug.serving import make_server

from fleet.local.gateway import MAX_BODY, SECONDS_TO_ANSWER, Gateway, Target


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


@pytest.fixture(scope="module", params=[SECONDS_TO_ANSWER])
def runtime(request: pytest.FixtureRequest) -> Iterator[Any]:
    container = ThreadingHTTPServer(("127.0.0.1", 0), Container)
    targets = {
        "embed": Target(port=container.server_port, variant="AllTraffic"),
        "restarting": Target(port=None, variant="AllTraffic"),
    }
    gateway = Gateway(
        targets.get, account="123456789012", region="us-east-1", seconds_to_answer=request.param
    )
    server = make_server("127.0.0.1", 0, gateway, threaded=True)
    Container.release.clear()
    threads = [threading.Thread(target=each.serve_forever) for each in (container, server)]
    for thread in threads:
        thread.start()
    yield boto3.client(
        "sagemaker-runtime",
        endpoint_url=f"http://127.0.0.1:{server.server_port}",
        region_name="us-east-1",
        aws_access_key_id="local",
        aws_secret_access_key="local",
        config=Config(retries={"total_max_attempts": 1}),
    )
    Container.release.set()
    for each in (server, container):
        each.shutdown()
        each.server_close()
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
    said = refusal(runtime, b"x", "images")
    assert said["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert said["Error"]["Code"] == "ValidationError"
    assert said["Error"]["Message"] == "Endpoint images of account 123456789012 not found."


@pytest.mark.parametrize(("status", "kind"), [(400, "client"), (500, "server"), (507, "server")])
def test_the_containers_refusal_is_a_model_error_with_its_status_and_words(
    runtime: Any, status: int, kind: str
) -> None:
    said = refusal(runtime, str(status).encode())
    assert said["ResponseMetadata"]["HTTPStatusCode"] == 424
    assert said["Error"]["Code"] == "ModelError"
    assert f'Received {kind} error ({status}) from primary with message "' in said["Error"]["Message"]
    assert said["OriginalStatusCode"] == status
    assert said["OriginalMessage"] == '{"error": "said so"}'
    assert said["LogStreamArn"].endswith(":123456789012:log-group:/aws/sagemaker/Endpoints/embed")


@pytest.mark.parametrize("runtime", [0.3], indirect=True)
@pytest.mark.parametrize("body", [b"slow", b"trickle"])
def test_an_answer_that_takes_too_long_is_a_model_error(runtime: Any, body: bytes) -> None:
    said = refusal(runtime, body)
    assert said["Error"]["Code"] == "ModelError"
    assert said["OriginalMessage"].startswith("Your invocation timed out while waiting for a response")


def test_a_container_that_breaks_the_connection_is_a_model_error(runtime: Any) -> None:
    assert refusal(runtime, b"hang up")["Error"]["Code"] == "ModelError"


def test_a_container_that_is_being_restarted_is_a_model_error(runtime: Any) -> None:
    assert refusal(runtime, b"x", "restarting")["Error"]["Code"] == "ModelError"


def test_a_body_of_6_mib_is_taken_and_a_larger_one_refused(runtime: Any) -> None:
    answer = runtime.invoke_endpoint(EndpointName="embed", Body=b"x" * MAX_BODY, ContentType="text/plain")
    assert len(answer["Body"].read()) == MAX_BODY + len("/invocations/")
    said = refusal(runtime, b"x" * (MAX_BODY + 1))
    assert said["ResponseMetadata"]["HTTPStatusCode"] == 413
    assert said["Error"]["Message"] == "HTTP content length exceeded 6291456 bytes."
