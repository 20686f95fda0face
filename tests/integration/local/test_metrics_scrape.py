"""Triton's counters are published as what they grew by; a plain HTTP server stands in for Triton."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from botocore.config import Config
from botocore.exceptions import EndpointConnectionError
from urllib3 import HTTPConnectionPool

from tests.support.embedded_cloudwatch import REGION, values
from tests.support.embedded_keys import KEYS
from tests.support.endpoint_ids import endpoint_id
from tests.support.metrics_server import NAMESPACE, MetricsServer, counter, metrics_server
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.local.metrics.scrape import TritonScraper, TritonSource

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

EMBED = {"model": "embed", "version": "1"}


@pytest.fixture
def triton() -> Iterator[MetricsServer]:
    with metrics_server() as server:
        yield server


def gauge(*values: tuple[str, float], name: str = "nv_inference_pending_request_count") -> str:
    lines = "".join(f"{name}{{{labels}}} {value}\n" for labels, value in values)
    return f"# HELP {name} How many.\n# TYPE {name} gauge\n{lines}"


def metric_value(
    cloudwatch: CloudWatchClient,
    name: str = "nv_inference_count",
    dimensions: dict[str, str] = EMBED,
    statistic: str = "Sum",
) -> float | None:
    current_time, hour = datetime.now(UTC), timedelta(hours=1)
    limits = {"start": current_time - hour, "end": current_time + hour}
    actual_values = values(cloudwatch, NAMESPACE, name, dimensions, statistic=statistic, **limits)
    return sum(actual_values.values()) if actual_values else None


def test_a_counter_is_published_as_what_it_grew_by(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    scraper = TritonScraper()
    for value in (5, 7, 7, 10):
        triton.text = counter(value)
        scraper.publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 10
    assert metric_value(cloudwatch, statistic="SampleCount") == 4


def test_a_counter_that_does_not_grow_is_0_and_no_hole(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    triton.text = counter(0)
    TritonScraper().publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 0


def test_a_new_server_counts_from_0(cloudwatch: CloudWatchClient, triton: MetricsServer) -> None:
    scraper = TritonScraper()
    triton.text = counter(5)
    scraper.publish(triton.source(server=1), cloudwatch)
    triton.text = counter(6)
    scraper.publish(triton.source(server=2), cloudwatch)
    assert metric_value(cloudwatch) == 5 + 6


def test_servers_that_serve_at_once_are_told_apart(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    scraper = TritonScraper()
    for value in (5, 6):
        triton.text = counter(value)
        scraper.publish(triton.source(server=1), cloudwatch)
        scraper.publish(triton.source(server=2), cloudwatch)
    assert metric_value(cloudwatch) == 2 * 6


def test_a_counter_that_fell_counts_from_0(cloudwatch: CloudWatchClient, triton: MetricsServer) -> None:
    scraper = TritonScraper()
    for value in (5, 3):
        triton.text = counter(value)
        scraper.publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 5 + 3


def test_a_model_that_was_unloaded_meanwhile_counts_from_0(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    scraper = TritonScraper()
    for text in (counter(5), "", counter(6)):
        triton.text = text
        scraper.publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 5 + 6


def test_a_server_that_is_gone_is_forgotten(cloudwatch: CloudWatchClient, triton: MetricsServer) -> None:
    scraper = TritonScraper()
    triton.text = counter(5)
    scraper.publish(triton.source(), cloudwatch)
    scraper.forget_all_but([2])
    scraper.publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 5 + 5


def test_a_gauge_is_published_as_it_is(cloudwatch: CloudWatchClient, triton: MetricsServer) -> None:
    scraper = TritonScraper()
    for value in (4, 2):
        triton.text = gauge(('model="embed",version="1"', value))
        scraper.publish(triton.source(), cloudwatch)
    text = "nv_inference_pending_request_count"
    assert metric_value(cloudwatch, text, statistic="Maximum") == 4
    assert metric_value(cloudwatch, text, statistic="Minimum") == 2


def test_the_folder_of_a_model_is_no_dimension_and_namesakes_are_summed(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    scraper = TritonScraper()
    labels = 'model="embed",version="1",namespace="/models/{}/model"'
    for growth in (0, 1):
        first, second = (labels.format(folder) for folder in "ab")
        name = "nv_inference_count"
        triton.text = counter(3 + growth, labels=first) + f"{name}{{{second}}} {10 + growth}\n"
        triton.text += gauge((first, 1), (second, 2))
        scraper.publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 3 + 10 + 2
    assert metric_value(cloudwatch, "nv_inference_pending_request_count", statistic="Maximum") == 3


def test_other_labels_are_dimensions_but_empty_ones_are_not(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    triton.text = counter(1, labels='model="embed",version="1",reason="OTHER",gpu_uuid=""')
    TritonScraper().publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch, dimensions={**EMBED, "reason": "OTHER"}) == 1


def test_names_are_tritons_even_of_counters_called_total(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    triton.text = counter(2) + counter(3, name="tokens_total")
    TritonScraper().publish(triton.source(), cloudwatch)
    metrics = cloudwatch.list_metrics(Namespace=NAMESPACE)["Metrics"]
    assert {metric["MetricName"] for metric in metrics} == {"nv_inference_count", "tokens_total"}


def test_summaries_histograms_and_what_is_no_number_are_left_out(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    triton.text = (
        '# TYPE latency summary\nlatency{quantile="0.5"} 3\nlatency_sum 9\nlatency_count 3\n'
        '# TYPE first histogram\nfirst_bucket{le="+Inf"} 3\nfirst_sum 9\nfirst_count 3\n'
        + gauge(('model="embed"', float("nan")), name="ratio")
        + counter(1)
    )
    TritonScraper().publish(triton.source(), cloudwatch)
    metrics = cloudwatch.list_metrics(Namespace=NAMESPACE)["Metrics"]
    assert [metric["MetricName"] for metric in metrics] == ["nv_inference_count"]


@pytest.mark.parametrize(("status", "text"), [(503, ""), (200, "nv_inference_count{")])
def test_a_triton_that_does_not_answer_rightly_is_tried_again(
    cloudwatch: CloudWatchClient, triton: MetricsServer, status: int, text: str
) -> None:
    scraper = TritonScraper()
    triton.status, triton.text = status, text
    scraper.publish(triton.source(), cloudwatch)
    assert cloudwatch.list_metrics(Namespace=NAMESPACE)["Metrics"] == []
    triton.status, triton.text = 200, counter(5)
    scraper.publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 5


def test_a_triton_that_does_not_listen_is_no_error(cloudwatch: CloudWatchClient) -> None:
    TritonScraper().publish(
        TritonSource(
            endpoint_id("sentences"), 1, HTTPConnectionPool("127.0.0.1", 1, retries=False), NAMESPACE
        ),
        cloudwatch,
    )
    assert cloudwatch.list_metrics(Namespace=NAMESPACE)["Metrics"] == []


def test_growth_that_cloudwatch_did_not_take_goes_with_the_next(
    cloudwatch: CloudWatchClient, triton: MetricsServer
) -> None:
    scraper = TritonScraper()
    config = Config(retries={"total_max_attempts": 1})
    unreachable = local_session(REGION, KEYS).client(
        "cloudwatch", endpoint_url="http://localhost:1", config=config
    )
    triton.text = counter(5)
    with pytest.raises(EndpointConnectionError):
        scraper.publish(triton.source(), unreachable)
    triton.text = counter(7)
    scraper.publish(triton.source(), cloudwatch)
    assert metric_value(cloudwatch) == 7
