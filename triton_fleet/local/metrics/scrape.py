"""Triton's own metrics, read as Prometheus text and published as the container publishes them."""

from __future__ import annotations

import logging
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import urllib3
from prometheus_client.parser import text_string_to_metric_families

from fleet_emulator.hosting import EndpointId
from triton_fleet.local.metrics.recorder import METRICS_A_CALL, portions

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import DimensionTypeDef, MetricDatumTypeDef

log = logging.getLogger("fleet_emulator.metrics")

SECONDS_TO_ANSWER = 5.0
NOT_A_DIMENSION = "namespace"
"""Triton's label of the folder from which a model was loaded: a work folder here, a hash on SageMaker."""
_COUNTER = re.compile(r"^# TYPE (\S+) counter$", re.MULTILINE)

Labels: TypeAlias = frozenset[tuple[str, str]]
Series: TypeAlias = tuple[str, Labels]


@dataclass(frozen=True)
class TritonSource:
    """One tritonserver's metrics port; `server` is its pid: its counters begin at 0 with it."""

    endpoint: EndpointId
    server: int
    pool: urllib3.HTTPConnectionPool
    namespace: str


@dataclass(frozen=True)
class Reading:
    """One value of a scrape."""

    series: Series
    value: float
    is_counter: bool


class TritonScraper:
    """Publishes counters as what they grew by since the last time, and gauges as they are.

    So does the CloudWatch agent, which the container's own publishing is taken to be. A counter that did not
    grow is published as 0, so that a graph shows an idle endpoint and not a hole. Series that differ by
    nothing but their model's folder are summed, gauges as well: requests that wait, wait in both.
    Summaries and histograms are left out.
    """

    def __init__(self) -> None:
        self._last: dict[int, dict[Series, float]] = {}

    def publish(self, source: TritonSource, cloudwatch: CloudWatchClient) -> None:
        """Read the server's metrics and send them; a server that does not answer is tried again next time.

        Raises:
            BotoCoreError, ClientError: CloudWatch did not take them; the counters' growth goes with the next.
        """
        try:
            readings = list(_readings(self._read(source)))
        except (urllib3.exceptions.HTTPError, ValueError) as error:
            log.warning(
                "the metrics of %s, process %d, were not read: %s", source.endpoint.name, source.server, error
            )
            return
        last = self._last.setdefault(source.server, {})
        for part in portions(list(_by_dimensions(readings).items()), METRICS_A_CALL):
            data = [
                _datum(series, sum(_published_value(sample, last) for sample in samples))
                for series, samples in part
            ]
            cloudwatch.put_metric_data(Namespace=source.namespace, MetricData=data)
            last.update({sample.series: sample.value for _, samples in part for sample in samples})
        # A series that comes back, as of a model that is loaded again, begins at 0.
        for series in last.keys() - {reading.series for reading in readings}:
            del last[series]

    def forget_all_but(self, servers: Collection[int]) -> None:
        """Forget the counters of servers that are gone."""
        self._last = {server: last for server, last in self._last.items() if server in servers}

    def _read(self, source: TritonSource) -> str:
        answer = source.pool.request("GET", "/metrics", timeout=SECONDS_TO_ANSWER)
        if answer.status != 200:
            raise ValueError(f"HTTP {answer.status}")
        return answer.data.decode()


def _by_dimensions(readings: list[Reading]) -> dict[Series, list[Reading]]:
    dimensions: defaultdict[Series, list[Reading]] = defaultdict(list)
    for reading in readings:
        name, labels = reading.series
        dimensions[name, frozenset(label for label in labels if label[0] != NOT_A_DIMENSION)].append(reading)
    return dimensions


def _published_value(reading: Reading, last: Mapping[Series, float]) -> float:
    before = last.get(reading.series, 0.0) if reading.is_counter else 0.0
    return reading.value - before if reading.value >= before else reading.value


def _datum(series: Series, value: float) -> MetricDatumTypeDef:
    name, labels = series
    dimensions: list[DimensionTypeDef] = [{"Name": key, "Value": text} for key, text in sorted(labels)]
    return {"MetricName": name, "Dimensions": dimensions, "Value": value}


def _readings(text: str) -> Iterator[Reading]:
    counters = set(_COUNTER.findall(text))
    for family in text_string_to_metric_families(text):
        if family.type not in ("counter", "gauge"):
            continue
        for sample in family.samples:
            # The parser calls every counter `..._total`, whatever it is called.
            is_counter = family.type == "counter"
            name = family.name if is_counter and family.name in counters else sample.name
            labels = frozenset((key, value) for key, value in sample.labels.items() if value)
            if math.isfinite(sample.value):
                yield Reading((name, labels), sample.value, is_counter)
