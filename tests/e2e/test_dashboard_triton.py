"""A real Triton's own metrics, in the embedded CloudWatch."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.embedded_cloudwatch import embedded_cloudwatch, values
from tests.support.endpoint_ids import endpoint_id
from tests.support.triton_models import QUIET, Starter, call, python_model
from triton_fleet.local.metrics.scrape import TritonScraper, TritonSource
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

pytestmark = pytest.mark.triton

NAMESPACE = "TritonFleet/double"
DOUBLE = {"model": "double", "version": "1"}
METRIC_SETTINGS = {
    **QUIET,
    "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
    "SAGEMAKER_TRITON_METRICS_PORT": "23000",
}


@pytest.fixture
def cloudwatch() -> Iterator[CloudWatchClient]:
    with embedded_cloudwatch() as cloudwatch:
        yield cloudwatch


def source(server: TritonServer) -> TritonSource:
    return TritonSource(endpoint_id("double"), server.process.pid, server.metrics, NAMESPACE)


def call_model(server: TritonServer, times: int) -> None:
    """Call the model, and wait until the server has counted it, which it does after it has answered."""
    for _ in range(times):
        call(server, [[1.0, 2.0], [3.0, 4.0]])
    pattern = re.compile(rf"^nv_inference_request_success{{.*}} {times}$", re.MULTILINE)
    pause = threading.Event()
    for _ in range(500):
        if pattern.search(server.metrics.request("GET", "/metrics").data.decode()):
            return
        pause.wait(0.02)
    raise AssertionError("the calls were not counted")


def metric_value(
    cloudwatch: CloudWatchClient, name: str, dimensions: dict[str, str], statistic: str = "Sum"
) -> float:
    current_time, hour = datetime.now(UTC), timedelta(hours=1)
    limits = {"start": current_time - hour, "end": current_time + hour}
    actual_values = values(cloudwatch, NAMESPACE, name, dimensions, statistic=statistic, **limits)
    return sum(actual_values.values())


def test_a_tritons_counters_and_gauges_reach_cloudwatch(
    starter: Starter, tmp_path: Path, cloudwatch: CloudWatchClient
) -> None:
    server, scraper = starter.start(python_model(tmp_path), METRIC_SETTINGS), TritonScraper()
    scraper.publish(source(server), cloudwatch)
    call_model(server, times=3)
    scraper.publish(source(server), cloudwatch)
    scraper.publish(source(server), cloudwatch)
    assert metric_value(cloudwatch, "nv_inference_request_success", DOUBLE) == 3
    assert metric_value(cloudwatch, "nv_inference_request_success", DOUBLE, "SampleCount") == 3
    assert metric_value(cloudwatch, "nv_inference_count", DOUBLE) == 6
    assert (
        metric_value(cloudwatch, "nv_inference_request_failure", {**DOUBLE, "reason": "OTHER"}, "SampleCount")
        == 3
    )
    assert metric_value(cloudwatch, "nv_inference_compute_infer_duration_us", DOUBLE) > 0
    assert metric_value(cloudwatch, "nv_inference_pending_request_count", DOUBLE, "Maximum") == 0
    assert metric_value(cloudwatch, "nv_cpu_memory_total_bytes", {}, "SampleCount") == 3
    metrics = cloudwatch.list_metrics(Namespace=NAMESPACE)["Metrics"]
    assert all(metric["MetricName"].startswith("nv_") for metric in metrics)
    assert {pair["Name"] for metric in metrics for pair in metric["Dimensions"]} == {
        "model",
        "version",
        "reason",
    }


def test_a_triton_that_was_started_again_counts_from_0(
    runtime: TritonRuntime, starter: Starter, tmp_path: Path, cloudwatch: CloudWatchClient
) -> None:
    first, scraper = starter.start(python_model(tmp_path / "first"), METRIC_SETTINGS), TritonScraper()
    call_model(first, times=1)
    scraper.publish(source(first), cloudwatch)
    first.stop()
    scraper.publish(source(first), cloudwatch)
    second = Starter(runtime, tmp_path / "second")
    starter.servers.append(second_server := second.start(python_model(second.folder), METRIC_SETTINGS))
    call_model(second_server, times=2)
    scraper.publish(source(second_server), cloudwatch)
    assert metric_value(cloudwatch, "nv_inference_request_success", DOUBLE) == 3
