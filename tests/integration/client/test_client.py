"""The client by real boto3 against a stand-in for SageMaker's runtime, and against the project's own gateway."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import boto3
import numpy as np
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from fleet_client import CLIENT_CONFIG, AnswerError, InferenceError, Payload, PayloadError, TritonEndpoint
from fleet_client.client import MAX_BODY_BYTES
from tests.support.endpoint_ids import SignedFor
from tests.support.runtime_stand_in import RuntimeStandIn, refusal, runtime_stand_in, served, tensor_answer
from triton_fleet.local.containers import SingleModel
from triton_fleet.local.gateway import Gateway

X = np.array([[1.5, 2.5]], dtype=np.float32)
NOT_READY = refusal(429, "ModelNotReadyException")
ARN = "arn:aws:logs:us-east-1:111122223333:log-group:/aws/sagemaker/Endpoints/embed"


@dataclass
class Time:
    """A clock that only pauses move."""

    current: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.current += seconds


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "local")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "5")  # botocore's own retries, which must not come on top


@pytest.fixture(scope="module")
def serving_runtime() -> Iterator[RuntimeStandIn]:
    with runtime_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
def runtime(serving_runtime: RuntimeStandIn) -> RuntimeStandIn:
    serving_runtime.answers.clear()
    serving_runtime.requests.clear()
    return serving_runtime


def endpoint(runtime: RuntimeStandIn, time: Time | None = None, **options: Any) -> TritonEndpoint:
    time = time or Time()
    return TritonEndpoint(
        "embed",
        region="us-east-1",
        endpoint_url=runtime.url,
        **{"pause": time.pause, "clock": lambda: time.current, **options},
    )


def refusal_error(runtime: RuntimeStandIn, time: Time | None = None, **options: Any) -> InferenceError:
    with pytest.raises(InferenceError) as caught:
        endpoint(runtime, time, **options).infer({"x": X})
    return caught.value


@pytest.mark.parametrize("binary", [True, False])
def test_arrays_go_there_and_come_back(runtime: RuntimeStandIn, binary: bool) -> None:
    words = np.array([["naïve"], [b"\x00 bytes".decode()]], dtype=np.object_)
    got = endpoint(runtime).infer({"x": X, "words": words}, outputs=["x", "words"], binary=binary)
    assert (got["x"].tolist(), got["words"].tolist()) == (
        X.tolist(),
        [["naïve".encode()], [b"\x00 bytes"]],
    )
    assert runtime.requests[-1].path == "/endpoints/embed/invocations"
    assert ("binary" in runtime.requests[-1].headers["Content-Type"]) == binary


def test_the_target_model_is_sent_where_one_is_named_and_only_there(runtime: RuntimeStandIn) -> None:
    endpoint(runtime).infer({"x": X})
    assert "X-Amzn-SageMaker-Target-Model" not in runtime.requests[-1].headers
    endpoint(runtime).infer({"x": X}, target="team/resnet.tar.gz")
    assert runtime.requests[-1].headers["X-Amzn-SageMaker-Target-Model"] == "team/resnet.tar.gz"


def test_the_same_call_goes_through_the_local_gateway(runtime: RuntimeStandIn) -> None:
    triton: Any = SimpleNamespace(ready=SimpleNamespace(pool=runtime.pool))
    container = SingleModel(triton, "AllTraffic", differences=[], record=lambda _measure, _value: None)
    gateway = Gateway(lambda endpoint: nullcontext({"embed": container}.get(endpoint.name)))
    with served(SignedFor(gateway)) as port:
        local = TritonEndpoint("embed", region="us-east-1", endpoint_url=f"http://127.0.0.1:{port}")
        assert local.infer({"x": X})["x"].tolist() == X.tolist()
        runtime.answers.append(tensor_answer(b'{"error":"no such input"}', status=400))
        with pytest.raises(InferenceError) as caught:
            local.infer({"x": X})
    error = caught.value
    assert (error.status, error.code, error.message) == (400, "ModelError", "no such input")
    assert runtime.requests[-1].path == "/invocations"


def test_it_finds_the_local_endpoint_by_aws_endpoint_url(
    runtime: RuntimeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", runtime.url)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert TritonEndpoint("embed").infer({"x": X})["x"].tolist() == X.tolist()


def test_a_client_of_ones_own_is_used_as_it_is(runtime: RuntimeStandIn) -> None:
    client = boto3.client(
        "sagemaker-runtime", region_name="us-east-1", endpoint_url=runtime.url, config=CLIENT_CONFIG
    )
    assert TritonEndpoint("embed", client=client).infer({"x": X})["x"].tolist() == X.tolist()
    with pytest.raises(ValueError, match="a client has its region and endpoint_url already"):
        TritonEndpoint("embed", client=client, region="us-east-1")


def test_tritons_refusal_is_told_in_its_own_words_with_status_and_log(runtime: RuntimeStandIn) -> None:
    text = '{"error":"inference request batch-size must be <= 16 for \'ensemble\'"}'
    more = {"OriginalStatusCode": 400, "OriginalMessage": text, "LogStreamArn": ARN}
    runtime.answers.append(refusal(424, "ModelError", "Received client error (400)", **more))
    error = refusal_error(runtime)
    assert error.message == "inference request batch-size must be <= 16 for 'ensemble'"
    assert (error.status, error.code, error.log) == (400, "ModelError", ARN)
    assert isinstance(error.__cause__, ClientError)
    assert str(error) == f"ModelError (400): {error.message}"
    assert len(runtime.requests) == 1


@pytest.mark.parametrize(
    "message",
    [
        "Your invocation timed out",
        '{"detail":"x"}',
        '{"error":{"a":1}}',
        "7",
        "[" * 100_000,
        '{"error":' * 5000,
    ],
)
def test_a_refusal_of_another_form_is_told_as_it_is(runtime: RuntimeStandIn, message: str) -> None:
    more = {"OriginalStatusCode": 0, "OriginalMessage": message}
    runtime.answers.append(refusal(424, "ModelError", "Received server error (0)", **more))
    error = refusal_error(runtime)
    assert (error.message, error.status, error.log) == (message, 0, None)


def test_sagemakers_own_refusal_has_its_status_and_code(runtime: RuntimeStandIn) -> None:
    runtime.answers.append(refusal(400, "ValidationError", "Endpoint embed not found."))
    error = refusal_error(runtime)
    assert (error.status, error.code, error.message) == (400, "ValidationError", "Endpoint embed not found.")


def test_a_refusal_passes_between_processes(runtime: RuntimeStandIn) -> None:
    runtime.answers.append(refusal(424, "ModelError", LogStreamArn=ARN))
    error = refusal_error(runtime)
    second_document = pickle.loads(pickle.dumps(error))
    assert (str(second_document), second_document.status, second_document.log) == (str(error), 424, ARN)


@pytest.mark.parametrize(
    "not_ready",
    [
        refusal(503, "ModelNotReadyException"),
        refusal(400, "ThrottlingException"),
        refusal(429, "TooManyRequestsException"),
    ],
    ids=["model not ready", "throttling", "any 429"],
)
def test_a_model_that_is_being_loaded_is_asked_again_until_it_answers(
    runtime: RuntimeStandIn, not_ready: Any
) -> None:
    runtime.answers += [not_ready] * 3
    time = Time()
    assert endpoint(runtime, time).infer({"x": X})["x"].tolist() == X.tolist()
    assert (len(runtime.requests), len(time.pauses)) == (4, 3)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (424, "ModelError"),
        (500, "InternalFailure"),
        (503, "ServiceUnavailable"),
        (530, "InternalDependencyException"),
    ],
)
def test_nothing_else_is_asked_again(runtime: RuntimeStandIn, status: int, code: str) -> None:
    runtime.answers += [refusal(status, code)] * 2
    assert refusal_error(runtime).code == code
    assert len(runtime.requests) == 1


def test_a_429_of_the_model_itself_is_not_asked_again(runtime: RuntimeStandIn) -> None:
    runtime.answers += [refusal(424, "ModelError", OriginalStatusCode=429, OriginalMessage="busy")] * 2
    assert refusal_error(runtime).status == 429
    assert len(runtime.requests) == 1


def test_pauses_are_random_below_a_bound_that_doubles_up_to_ten_seconds(runtime: RuntimeStandIn) -> None:
    runtime.answers += [NOT_READY] * 60
    time = Time()
    endpoint(runtime, time, patience=1000.0).infer({"x": X})
    bounds = [min(0.5 * 2**turn, 10.0) for turn in range(60)]
    assert all(0 <= pause <= limit for pause, limit in zip(time.pauses, bounds, strict=True))
    assert len(set(time.pauses)) == 60
    assert 2.0 < sum(time.pauses[5:]) / 55 < 8.0  # 5 on average; all of 55 missing it is no chance


def test_patience_ends_at_its_deadline_with_the_last_refusal(runtime: RuntimeStandIn) -> None:
    runtime.answers += [NOT_READY] * 500
    time = Time()
    assert refusal_error(runtime, time, patience=30.0).code == "ModelNotReadyException"
    assert sum(time.pauses) == pytest.approx(30.0)
    assert len(runtime.requests) == len(time.pauses) + 1


def test_no_patience_asks_once(runtime: RuntimeStandIn) -> None:
    runtime.answers.append(NOT_READY)
    time = Time()
    assert refusal_error(runtime, time, patience=0.0).status == 429
    assert (len(runtime.requests), time.pauses) == (1, [])


def test_the_waiting_ends_where_the_pause_says_so(runtime: RuntimeStandIn) -> None:
    runtime.answers += [NOT_READY] * 2
    assert refusal_error(runtime, pause=lambda _seconds: True).code == "ModelNotReadyException"
    assert len(runtime.requests) == 1


@pytest.mark.parametrize("size", [6_500_000, 24_000_000, MAX_BODY_BYTES])
def test_a_body_of_up_to_25_mb_is_sent(runtime: RuntimeStandIn, size: int) -> None:
    endpoint(runtime).invoke(Payload(b'{"inputs":[]}'.ljust(size), "application/json"))
    assert len(runtime.requests[-1].get_data()) == size


def test_a_larger_body_is_refused_before_it_is_sent(runtime: RuntimeStandIn) -> None:
    with pytest.raises(PayloadError) as caught:
        endpoint(runtime).infer({"x": np.zeros((1, 3, 1500, 1500), np.float32)})
    assert "bytes, and SageMaker takes 26,214,400: send smaller batches, or the URI of" in str(caught.value)
    assert "the request has 27,000," in str(caught.value)
    assert runtime.requests == []


@pytest.mark.parametrize("target", ["", " a.tar.gz", "größe.tar.gz", "a\nb", "a" * 1025])
def test_a_target_model_that_sagemaker_does_not_take_is_refused_before_it_is_sent(
    runtime: RuntimeStandIn, target: str
) -> None:
    with pytest.raises(PayloadError, match="must be 1 to 1024 printable ASCII characters"):
        endpoint(runtime).infer({"x": X}, target=target)
    assert runtime.requests == []


def test_an_answer_of_another_server_is_no_inference(runtime: RuntimeStandIn) -> None:
    runtime.answers.append(tensor_answer(b"<html>", "text/html"))
    with pytest.raises(AnswerError, match="content type 'text/html'"):
        endpoint(runtime).infer({"x": X})


def test_an_endpoint_that_cannot_be_reached_is_botocores_to_say() -> None:
    with served(RuntimeStandIn()) as port:
        pass
    endpoint = TritonEndpoint("embed", region="us-east-1", endpoint_url=f"http://127.0.0.1:{port}")
    with pytest.raises(EndpointConnectionError):
        endpoint.infer({"x": X})
