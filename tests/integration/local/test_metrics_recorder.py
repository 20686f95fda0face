"""Metrics of the gateway reach CloudWatch whole, in few calls, and under SageMaker's names."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from botocore.config import Config
from botocore.exceptions import EndpointConnectionError

from tests.support.embedded_cloudwatch import CURRENT_TIME, REGION, values
from tests.support.embedded_keys import KEYS
from tests.support.endpoint_ids import endpoint_id
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.local.metrics import recorder as module
from triton_fleet.local.metrics.recorder import Recorder

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

DIMENSIONS = {"EndpointName": "sentences", "VariantName": "AllTraffic"}
MINUTE = timedelta(minutes=1)


class Clock:
    """Unix seconds, as the test sets them."""

    def __init__(self) -> None:
        self.time = CURRENT_TIME.timestamp()

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def calls(cloudwatch: CloudWatchClient) -> Iterator[list[Any]]:
    """The bodies of the PutMetricData calls that the client makes."""
    recorders: list[Any] = []

    def note(params: Any, **_: object) -> None:
        recorders.append(params)

    cloudwatch.meta.events.register("provide-client-params.cloudwatch.PutMetricData", note)
    yield recorders
    cloudwatch.meta.events.unregister("provide-client-params.cloudwatch.PutMetricData", note)


def unreachable() -> CloudWatchClient:
    config = Config(retries={"total_max_attempts": 1})
    return local_session(REGION, KEYS).client("cloudwatch", endpoint_url="http://localhost:1", config=config)


def metric_values(
    cloudwatch: CloudWatchClient, name: str, statistic: str, namespace: str = "AWS/SageMaker"
) -> list[float]:
    limits = {"start": CURRENT_TIME - 30 * MINUTE, "end": CURRENT_TIME + 30 * MINUTE}
    return list(values(cloudwatch, namespace, name, DIMENSIONS, statistic=statistic, **limits).values())


def test_a_measure_has_the_catalogs_name_namespace_unit_and_dimensions(
    cloudwatch: CloudWatchClient, calls: list[Any]
) -> None:
    recorder = Recorder(Clock())
    recorder.record(endpoint_id("sentences"), "AllTraffic", "model_latency", 1500.0)
    recorder.record(endpoint_id("sentences"), "AllTraffic", "loaded_model_count", 3.0)
    recorder.publish(lambda *_: cloudwatch)
    assert {call["Namespace"]: call["MetricData"][0]["Unit"] for call in calls} == {
        "AWS/SageMaker": "Microseconds",
        "/aws/sagemaker/Endpoints": "None",
    }
    assert metric_values(cloudwatch, "ModelLatency", "Sum") == [1500]
    assert metric_values(cloudwatch, "LoadedModelCount", "Average", "/aws/sagemaker/Endpoints") == [3]


def test_percentiles_of_many_values_in_one_second_are_right(cloudwatch: CloudWatchClient) -> None:
    recorder = Recorder(Clock())
    for value in range(1, 201):
        for _ in range(5):
            recorder.record(endpoint_id("sentences"), "AllTraffic", "model_latency", value)
    recorder.publish(lambda *_: cloudwatch)
    statistics = ("SampleCount", "Average", "p50", "p90", "p99")
    numbers = [metric_values(cloudwatch, "ModelLatency", statistic) for statistic in statistics]
    assert numbers == [[1000], [100.5], [100], [180], [198]]


def test_values_are_of_the_minute_in_which_they_were_recorded(cloudwatch: CloudWatchClient) -> None:
    recorder = Recorder(clock := Clock())
    for minute in range(3):
        clock.time = (CURRENT_TIME + minute * MINUTE).timestamp()
        recorder.record(endpoint_id("sentences"), "AllTraffic", "invocations", 1.0)
    recorder.publish(lambda *_: cloudwatch)
    actual_values = values(
        cloudwatch,
        "AWS/SageMaker",
        "Invocations",
        DIMENSIONS,
        start=CURRENT_TIME,
        end=CURRENT_TIME + 10 * MINUTE,
    )
    assert actual_values == {CURRENT_TIME.replace(second=0) + minute * MINUTE: 1 for minute in range(3)}


def test_few_calls_carry_many_values_within_the_limits(
    cloudwatch: CloudWatchClient, calls: list[Any]
) -> None:
    recorder = Recorder(clock := Clock())
    for second in range(600):
        clock.time = CURRENT_TIME.timestamp() + second
        for value in range(200):
            recorder.record(endpoint_id("sentences"), "AllTraffic", "model_latency", value)
    recorder.publish(lambda *_: cloudwatch)
    assert [len(call["MetricData"]) for call in calls] == [1000, 200]
    assert max(len(datum["Values"]) for call in calls for datum in call["MetricData"]) == 150
    assert sum(metric_values(cloudwatch, "ModelLatency", "SampleCount")) == 600 * 200


def test_what_was_published_is_not_published_again(cloudwatch: CloudWatchClient, calls: list[Any]) -> None:
    recorder = Recorder(Clock())
    recorder.record(endpoint_id("sentences"), "AllTraffic", "invocations", 1.0)
    recorder.publish(lambda *_: cloudwatch)
    recorder.publish(lambda *_: cloudwatch)
    assert len(calls) == 1


def test_nothing_is_lost_where_cloudwatch_does_not_answer(cloudwatch: CloudWatchClient) -> None:
    recorder = Recorder(Clock())
    recorder.record(endpoint_id("sentences"), "AllTraffic", "invocations", 1.0)
    recorder.record(endpoint_id("sentences"), "AllTraffic", "loaded_model_count", 3.0)
    with pytest.raises(EndpointConnectionError):
        recorder.publish(lambda *_: unreachable())
    recorder.record(endpoint_id("sentences"), "AllTraffic", "invocations", 1.0)
    recorder.publish(lambda *_: cloudwatch)
    assert metric_values(cloudwatch, "Invocations", "Sum") == [2]
    assert metric_values(cloudwatch, "LoadedModelCount", "Sum", "/aws/sagemaker/Endpoints") == [3]


def test_what_waits_too_long_gives_way_to_what_is_newer(
    cloudwatch: CloudWatchClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_VALUES", 2)
    recorder = Recorder(clock := Clock())
    for minute in range(4):
        clock.time = (CURRENT_TIME + minute * MINUTE).timestamp()
        recorder.record(endpoint_id("sentences"), "AllTraffic", "model_latency", minute)
    with pytest.raises(EndpointConnectionError):
        recorder.publish(lambda *_: unreachable())
    recorder.publish(lambda *_: cloudwatch)
    assert metric_values(cloudwatch, "ModelLatency", "Sum") == [2, 3]


def test_threads_that_record_at_once_lose_nothing(cloudwatch: CloudWatchClient) -> None:
    recorder = Recorder(Clock())

    def record() -> None:
        for _ in range(1000):
            recorder.record(endpoint_id("sentences"), "AllTraffic", "invocations", 1.0)

    threads = [threading.Thread(target=record) for _ in range(8)]
    for thread in threads:
        thread.start()
    recorder.publish(lambda *_: cloudwatch)
    for thread in threads:
        thread.join()
    recorder.publish(lambda *_: cloudwatch)
    assert metric_values(cloudwatch, "Invocations", "Sum") == [8000]


def test_a_measure_that_the_catalog_does_not_have_is_refused() -> None:
    with pytest.raises(KeyError, match="latency_of_the_model"):
        Recorder(Clock()).record(endpoint_id("sentences"), "AllTraffic", "latency_of_the_model", 1.0)
