"""The publisher sends everything at its pace or at once, whatever part of it fails."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.support.embedded_cloudwatch import CURRENT_TIME, values
from tests.support.endpoint_ids import endpoint_id
from tests.support.metrics_server import NAMESPACE, counter, metrics_server
from triton_fleet.local.metrics import publisher as module
from triton_fleet.local.metrics.publisher import Gauge, Publisher
from triton_fleet.local.metrics.recorder import Recorder
from triton_fleet.local.metrics.scrape import TritonSource

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

ENDPOINTS = "/aws/sagemaker/Endpoints"
DIMENSIONS = {"EndpointName": "sentences", "VariantName": "AllTraffic"}
MINUTE = timedelta(minutes=1)


class Fleet:
    """Metrics to publish, with a clock that the test sets."""

    def __init__(self, cloudwatch: CloudWatchClient) -> None:
        self.time = CURRENT_TIME.timestamp()
        self.cloudwatch = cloudwatch
        self.recorder = Recorder(lambda: self.time)
        self.gauges: list[Gauge] = [(endpoint_id("sentences"), "AllTraffic", "loaded_model_count", 2.0)]
        self.requests = threading.Semaphore(0)
        self.publisher = Publisher(
            self.recorder,
            sources=self.sources,
            gauges=lambda: self.gauges,
            cloudwatch=lambda *_: cloudwatch,
            clock=lambda: self.time,
        )

    def sources(self) -> list[TritonSource]:
        self.requests.release()
        return []

    def record_invocation(self) -> None:
        self.recorder.record(endpoint_id("sentences"), "AllTraffic", "invocations", 1.0)

    def published_values(
        self, name: str, namespace: str = "AWS/SageMaker", statistic: str = "Sum"
    ) -> list[float]:
        limits = {"start": CURRENT_TIME - MINUTE, "end": CURRENT_TIME + 10 * MINUTE}
        actual_values = values(self.cloudwatch, namespace, name, DIMENSIONS, statistic=statistic, **limits)
        return list(actual_values.values())


@pytest.fixture
def fleet(cloudwatch: CloudWatchClient) -> Fleet:
    return Fleet(cloudwatch)


def test_publish_now_returns_when_cloudwatch_has_what_was_recorded(fleet: Fleet) -> None:
    fleet.record_invocation()
    fleet.publisher.publish_on_demand()
    assert fleet.published_values("Invocations") == [1]


def test_a_gauge_goes_once_a_minute_however_often_it_is_published(fleet: Fleet) -> None:
    for seconds in (0, 10, 60):
        fleet.time = CURRENT_TIME.timestamp() + seconds
        fleet.publisher.publish_on_demand()
    assert fleet.published_values("LoadedModelCount", ENDPOINTS) == [2, 2]


@pytest.mark.parametrize(("second", "published_numbers"), [(44, []), (45, [2])])
def test_in_the_background_a_gauge_goes_when_its_minute_is_nearly_over(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch, second: int, published_numbers: list[float]
) -> None:
    monkeypatch.setattr(module, "SECONDS_BETWEEN", 0.01)
    fleet.time = CURRENT_TIME.timestamp() // 60 * 60 + second
    fleet.publisher.start()
    assert all(fleet.requests.acquire(timeout=10) for _ in range(3))
    fleet.publisher.stop()
    assert fleet.published_values("LoadedModelCount", ENDPOINTS) == published_numbers


def test_it_publishes_in_the_background_until_it_is_stopped(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS_BETWEEN", 0.01)
    before = threading.enumerate()
    fleet.record_invocation()
    fleet.publisher.start()
    assert all(fleet.requests.acquire(timeout=10) for _ in range(3))
    fleet.publisher.stop()
    assert fleet.published_values("Invocations") == [1]
    assert [
        thread for thread in threading.enumerate() if thread.name == "metrics" and thread not in before
    ] == []


def test_what_fails_is_logged_and_does_not_keep_the_rest_from_being_published(
    cloudwatch: CloudWatchClient, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    def gauges() -> list[Gauge]:
        raise RuntimeError("no gauges today")

    with metrics_server() as triton:
        triton.text = counter(1)
        sources = [triton.source(1, namespace=""), triton.source(2)]
        publisher = Publisher(
            Recorder(), sources=lambda: sources, gauges=gauges, cloudwatch=lambda *_: cloudwatch
        )
        publisher.publish_on_demand()
    (metric,) = cloudwatch.list_metrics()["Metrics"]
    assert metric["Namespace"] == NAMESPACE
    assert "no gauges today" in caplog.text
    assert "Invalid length for parameter Namespace" in caplog.text
    assert capfd.readouterr().out == ""
