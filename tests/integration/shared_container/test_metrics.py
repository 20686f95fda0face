"""Triton's metrics as CloudWatch reads them from a log."""

from __future__ import annotations

import http.server
import io
import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from shared_container.log import Log
from shared_container.metrics import Deltas, Publisher, Subject, metric_lines, read_metrics
from tests.support.endpoint_ids import endpoint_id
from triton_fleet.local.metrics.scrape import TritonScraper, TritonSource

SCRAPE = """
# HELP nv_inference_request_success Number of successful inference requests, all batch sizes
# TYPE nv_inference_request_success counter
nv_inference_request_success{model="resnet",version="1"} 10
nv_inference_request_success{model="resnet",version="2"} 1
# TYPE nv_inference_request_failure counter
nv_inference_request_failure{model="resnet",reason="OTHER",version="1"} 2
nv_inference_request_failure{model="resnet",reason="BACKEND",version="1"} 3
# TYPE nv_inference_pending_request_count gauge
nv_inference_pending_request_count{model="resnet",version="1"} 4
# TYPE nv_inference_request_summary_us summary
nv_inference_request_summary_us_count{model="resnet",version="1"} 10
nv_inference_request_summary_us_sum{model="resnet",version="1"} 1000
nv_inference_request_summary_us{model="resnet",version="1",quantile="0.5"} 100
# TYPE nv_inference_first_response_histogram_ms histogram
nv_inference_first_response_histogram_ms_bucket{model="resnet",version="1",le="100"} 3
# TYPE nv_gpu_utilization gauge
nv_gpu_utilization{gpu_uuid="GPU-1"} 0.5
nv_gpu_utilization{gpu_uuid="GPU-2"} NaN
# TYPE nv_gpu_memory_used_bytes gauge
nv_gpu_memory_used_bytes{gpu_uuid="GPU-1"} 1e9
# TYPE nv_cpu_utilization gauge
nv_cpu_utilization 0.5
not a metric
"""
RESNET_LABELS = (("model", "resnet"), ("version", "1"))
TWO = (("model", "resnet"), ("version", "2"))
OTHER_LABELS, BACKEND = (
    (("model", "resnet"), ("reason", text), ("version", "1")) for text in ("OTHER", "BACKEND")
)
GPU = (("gpu_uuid", "GPU-1"),)


def values(text: str, deltas: Deltas | None = None) -> dict[Any, dict[str, float]]:
    return (deltas or Deltas()).of(read_metrics(text))


def test_series_of_the_same_labels_are_together_without_summaries_and_histograms() -> None:
    assert values(SCRAPE) == {
        RESNET_LABELS: {"nv_inference_request_success": 10, "nv_inference_pending_request_count": 4},
        TWO: {"nv_inference_request_success": 1},
        OTHER_LABELS: {"nv_inference_request_failure": 2},
        BACKEND: {"nv_inference_request_failure": 3},
        GPU: {"nv_gpu_utilization": 0.5, "nv_gpu_memory_used_bytes": 1e9},
        (): {"nv_cpu_utilization": 0.5},
    }


def test_lines_have_the_metrics_and_dimensions_that_the_local_fleet_publishes() -> None:
    payload: list[Any] = []
    cloudwatch: Any = SimpleNamespace(put_metric_data=lambda **call: payload.extend(call["MetricData"]))
    answer = SimpleNamespace(status=200, data=SCRAPE.replace("not a metric\n", "").encode())
    pool: Any = SimpleNamespace(request=lambda *_, **__: answer)
    TritonScraper().publish(
        TritonSource(endpoint=endpoint_id("one"), server=1, pool=pool, namespace="fleet/one"), cloudwatch
    )
    local = {
        (entry["MetricName"], tuple((d["Name"], d["Value"]) for d in entry["Dimensions"]), entry["Value"])
        for entry in payload
    }
    rows = {
        (metric["Name"], tuple((name, line[name]) for name in dimensions), line[metric["Name"]])
        for line in metric_lines(values(SCRAPE), "fleet/one", 0)
        for directive in line["_aws"]["CloudWatchMetrics"]
        for dimensions in directive["Dimensions"]
        for metric in directive["Metrics"]
    }
    assert rows == local


def test_counters_are_what_was_added_and_gauges_what_they_are() -> None:
    deltas = Deltas()
    values(SCRAPE, deltas)
    later = SCRAPE.replace("} 10\n", "} 15\n").replace("} 4\n", "} 1\n")
    value = values(later, deltas)[RESNET_LABELS]
    assert value["nv_inference_request_success"] == 5
    assert values(later, deltas)[OTHER_LABELS]["nv_inference_request_failure"] == 0
    assert value["nv_inference_pending_request_count"] == 1


def test_a_counter_that_began_again_counts_from_zero() -> None:
    deltas = Deltas()
    values(SCRAPE, deltas)
    assert (
        values(SCRAPE.replace("} 10\n", "} 3\n"), deltas)[RESNET_LABELS]["nv_inference_request_success"] == 3
    )


def test_a_line_has_the_embedded_metric_format() -> None:
    lines = list(metric_lines(values(SCRAPE), "fleet/one", 1_700_000_000_000))
    dimensions = [line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] for line in lines]
    failed_texts = [["model", "reason", "version"]]
    assert dimensions == [
        [[]],
        [["gpu_uuid"]],
        failed_texts,
        failed_texts,
        [["model", "version"]],
        [["model", "version"]],
    ]
    assert lines[-1] == {
        "_aws": {
            "Timestamp": 1_700_000_000_000,
            "CloudWatchMetrics": [
                {
                    "Namespace": "fleet/one",
                    "Dimensions": [["model", "version"]],
                    "Metrics": [{"Name": "nv_inference_request_success", "Unit": "Count"}],
                }
            ],
        },
        "model": "resnet",
        "version": "2",
        "nv_inference_request_success": 1,
    }
    units = {metric["Name"]: metric["Unit"] for metric in lines[1]["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
    assert units == {"nv_gpu_utilization": "None", "nv_gpu_memory_used_bytes": "Bytes"}


def test_a_directive_has_at_most_a_hundred_metrics() -> None:
    many: dict[Subject, dict[str, float]] = {RESNET_LABELS: {f"a{index}": 1.0 for index in range(201)}}
    (line,) = metric_lines(many, "a", 0)
    assert [len(watch_metric["Metrics"]) for watch_metric in line["_aws"]["CloudWatchMetrics"]] == [
        100,
        100,
        1,
    ]


@pytest.fixture
def triton() -> Iterator[int]:
    """A stand-in that answers with SCRAPE, then with errors."""
    answers = iter([200, 500])

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(next(answers))
            self.end_headers()
            self.wfile.write(SCRAPE.encode())

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_each_scrape_is_lines_and_a_failed_one_is_an_error(triton: int) -> None:
    stream = io.StringIO()
    publisher = Publisher(triton, "fleet/one", Log(stream))
    publisher.publish()
    publisher.publish()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert ["_aws" in line for line in lines] == [*[True] * 6, False]
    assert (lines[6]["level"], lines[6]["message"]) == (
        "error",
        "Triton's metrics cannot be read: status 500",
    )


def test_a_triton_that_is_gone_is_an_error(unused_ports: list[int]) -> None:
    stream = io.StringIO()
    Publisher(unused_ports[0], "fleet/one", Log(stream)).publish()
    assert "Triton's metrics cannot be read" in json.loads(stream.getvalue())["message"]
