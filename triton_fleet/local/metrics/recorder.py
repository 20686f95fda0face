"""SageMaker's own metrics of the local endpoints, collected between one publishing and the next."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from fleet_emulator.hosting import EndpointId
from triton_fleet.catalog.metrics import Metric, endpoint_metric

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDatumTypeDef

log = logging.getLogger("fleet_emulator.metrics")

MAX_VALUES = 100_000
"""How many different values wait for a CloudWatch that does not take them; the oldest go first."""


@dataclass(frozen=True)
class Moment:
    """One metric of one variant in one second of Unix time."""

    metric: Metric
    endpoint: EndpointId
    variant: str
    second: int


Portion: TypeAlias = tuple[Moment, Mapping[float, int]]
"""Values with how often each was recorded, few enough for one datum."""


class Recorder:
    """Collects values from any number of threads; values of one metric and second become one datum."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """Args: where the time comes from, in Unix seconds."""
        self._clock = clock
        self._lock = threading.Lock()
        self._samples: defaultdict[Moment, Counter[float]] = defaultdict(Counter)

    def record(self, endpoint: EndpointId, variant: str, measure: str, value: float) -> None:
        """Collect one value of a measure of the catalog, in the catalog's unit, as of now.

        Raises:
            KeyError: the catalog has no such measure.
        """
        moment = Moment(endpoint_metric(measure), endpoint, variant, int(self._clock()))
        with self._lock:
            self._samples[moment][value] += 1

    def publish(self, cloudwatch: Callable[[str, str], CloudWatchClient]) -> None:
        """Send what was collected since the last time; what CloudWatch does not take is kept for the next.

        Args:
            cloudwatch: A client by account and region: each endpoint's metrics are its own region's.

        Raises:
            BotoCoreError, ClientError: CloudWatch did not take it.
        """
        with self._lock:
            samples, self._samples = self._samples, defaultdict(Counter)
        calls = list(_calls(samples))
        try:
            while calls:
                data = [_datum(portion) for portion in calls[0]]
                moment, _ = calls[0][0]
                client = cloudwatch(moment.endpoint.account, moment.endpoint.region)
                client.put_metric_data(Namespace=moment.metric.namespace, MetricData=data)
                del calls[0]
        except BaseException:
            self._put_back(portion for call in calls for portion in call)
            raise

    def _put_back(self, unsent: Iterable[Portion]) -> None:
        with self._lock:
            for moment, counts in unsent:
                self._samples[moment].update(counts)
            kept_count, lost_count = 0, 0
            for moment in sorted(self._samples, key=lambda moment: moment.second, reverse=True):
                kept_count += len(self._samples[moment])
                if kept_count > MAX_VALUES:
                    lost_count += self._samples.pop(moment).total()
        if lost_count:
            log.warning("%d values are lost: CloudWatch takes nothing", lost_count)


def _calls(samples: Mapping[Moment, Counter[float]]) -> Iterator[list[Portion]]:
    by_namespace: defaultdict[tuple[str, str, str], list[Portion]] = defaultdict(list)
    for moment, counts in sorted(samples.items(), key=lambda item: item[0].second):
        for values in portions(list(counts.items()), VALUES_A_METRIC):
            key = moment.endpoint.account, moment.endpoint.region, moment.metric.namespace
            by_namespace[key].append((moment, dict(values)))
    for data in by_namespace.values():
        yield from map(list, portions(data, METRICS_A_CALL))


def _datum(portion: Portion) -> MetricDatumTypeDef:
    moment, counts = portion
    return {
        "MetricName": moment.metric.name,
        "Dimensions": [
            {"Name": "EndpointName", "Value": moment.endpoint.name},
            {"Name": "VariantName", "Value": moment.variant},
        ],
        "Timestamp": datetime.fromtimestamp(moment.second, UTC),
        "Unit": moment.metric.unit,
        "Values": list(counts),
        "Counts": list(counts.values()),
    }


T = TypeVar("T")

METRICS_A_CALL = 1000
VALUES_A_METRIC = 150
"""Source: CloudWatch API reference, PutMetricData."""


def portions(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """The items in their order, at most `size` at a time."""
    for first in range(0, len(items), size):
        yield items[first : first + size]
