"""CloudWatch's metrics: kept by minute, with percentiles, exact dimensions and metric math.

moto keeps each value as an object of its own and looks through all of them for every period of every query;
it has no percentiles, forgets the namespace where dimensions are given, and lists a metric of two dimensions
once for each value.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast

from moto.cloudwatch import models as moto
from moto.cloudwatch.exceptions import InvalidParameterValue
from moto.cloudwatch.responses import CloudWatchResponse
from moto.cloudwatch.urls import url_bases
from moto.core.responses import ActionResult

from fleet_emulator.cloudwatch.queries import Queries, check_statistic
from fleet_emulator.cloudwatch.samples import STATISTICS, Metric, MetricStore, Samples, StatisticSet
from fleet_emulator.service_urls import ServiceUrls

MOST_METRICS, MOST_VALUES = 1000, 150
"""Per PutMetricData call, and per metric in it; source: CloudWatch API reference, PutMetricData."""


class EmbeddedCloudWatch(moto.CloudWatchBackend):
    """One account's CloudWatch in one region; alarms and dashboards are moto's."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._store = MetricStore()

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedCloudWatchResponse.dispatch})

    def put_metric_data(self, namespace: str, metric_data: list[dict[str, Any]]) -> None:
        """PutMetricData."""
        if len(metric_data) > MOST_METRICS:
            problem = f"The collection MetricData must not have a size greater than {MOST_METRICS}."
            raise InvalidParameterValue(problem)
        for number, datum in enumerate(metric_data, 1):
            self._validate_parameters_put_metric_data(datum, number)
            _check_values(datum, f"MetricData.member.{number}")
        now = datetime.now(UTC)
        for datum in metric_data:
            metric = Metric.of(namespace, datum["MetricName"], _dimensions(datum))
            unit, time = datum.get("Unit", "None"), _seconds(datum.get("Timestamp", now))
            _add(datum, self._store.minute(metric, unit, time))

    def get_metric_data(
        self,
        queries: list[dict[str, Any]],
        start_time: datetime,
        end_time: datetime,
        scan_by: str = "TimestampAscending",
    ) -> list[dict[str, Any]]:
        """GetMetricData."""
        asked = Queries(self._store, queries, start=_seconds(start_time), end=_seconds(end_time))
        answers = []
        for query in queries:
            for line in asked.lines(query) if query.get("ReturnData", True) else ():
                points = sorted(line.points.items(), reverse=scan_by == "TimestampDescending")
                answers.append(
                    {
                        "id": query["Id"],
                        "label": line.label,
                        "timestamps": [datetime.fromtimestamp(time, UTC) for time, _ in points],
                        "values": [value for _, value in points],
                        "status_code": "Complete",
                    }
                )
        return answers

    def datapoints(
        self,
        metric: Metric,
        statistics: Sequence[str],
        period: int,
        start: datetime,
        end: datetime,
        unit: str | None,
    ) -> list[dict[str, Any]]:
        """The data points of GetMetricStatistics, one for each period and unit."""
        for name in statistics:
            check_statistic(name, period)
        points = []
        for each in [unit] if unit else self._store.units(metric):
            limits = {"start": _seconds(start), "end": _seconds(end)}
            for time, samples in self._store.periods(metric, period=period, unit=each, **limits).items():
                values = {name: samples.statistic(name) for name in statistics}
                plain = {name: value for name, value in values.items() if name in STATISTICS}
                ranks = {k: v for k, v in values.items() if k not in STATISTICS and v is not None}
                extended = {"ExtendedStatistics": ranks} if ranks else {}
                moment = datetime.fromtimestamp(time, UTC)
                points.append({"Timestamp": moment, "Unit": each, **plain, **extended})
        return points

    def get_filtered_metrics(
        self, metric_name: str | None, namespace: str | None, dimensions: list[dict[str, str]]
    ) -> list[Any]:
        """What ListMetrics finds."""
        return [
            moto.Metric(
                metric.name, metric.namespace, [moto.Dimension(*dimension) for dimension in metric.dimensions]
            )
            for metric in self._store.metrics()
            if metric_name in (None, metric.name)
            and namespace in (None, metric.namespace)
            and all(_has(dict(metric.dimensions), wanted) for wanted in dimensions)
        ]


class EmbeddedCloudWatchResponse(CloudWatchResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def get_metric_statistics(self) -> ActionResult:
        """GetMetricStatistics; moto leaves percentiles out."""
        backend = cast(EmbeddedCloudWatch, self.cloudwatch_backend)
        name = self._get_param("MetricName")
        dimensions = {each["Name"]: each["Value"] for each in self._get_param("Dimensions", [])}
        points = backend.datapoints(
            Metric.of(self._get_param("Namespace"), name, dimensions),
            [*self._get_param("Statistics", []), *self._get_param("ExtendedStatistics", [])],
            self._get_int_param("Period"),
            self._get_param("StartTime"),
            self._get_param("EndTime"),
            self._get_param("Unit"),
        )
        return ActionResult({"Label": name, "Datapoints": points})


def _check_values(datum: dict[str, Any], name: str) -> None:
    if len(datum.get("Values", ())) > MOST_VALUES:
        problem = f"The collection {name}.Values must not have a size greater than {MOST_VALUES}."
        raise InvalidParameterValue(problem)
    if not any(key in datum for key in ("Value", "Values", "StatisticValues")):
        raise InvalidParameterValue(f"{name} has no Value, Values or StatisticValues.")
    counts = [*datum.get("Counts", ()), datum.get("StatisticValues", {}).get("SampleCount", 1)]
    if min(counts) <= 0:
        raise InvalidParameterValue(f"{name} counts a value {min(counts)} times.")


def _add(datum: dict[str, Any], samples: Samples) -> None:
    if sums := datum.get("StatisticValues"):
        samples.add_set(StatisticSet(*(sums[key] for key in ("SampleCount", "Sum", "Minimum", "Maximum"))))
    elif values := datum.get("Values"):
        samples.add(values, datum.get("Counts", [1.0] * len(values)))
    else:
        samples.add([datum["Value"]], [1.0])


def _has(dimensions: dict[str, str], wanted: dict[str, str]) -> bool:
    found = dimensions.get(wanted["Name"])
    return found is not None and wanted.get("Value", found) == found


def _dimensions(datum: dict[str, Any]) -> dict[str, str]:
    return {each["Name"]: each["Value"] for each in datum.get("Dimensions", [])}


def _seconds(moment: datetime) -> float:
    """Unix seconds; moto's times are in UTC, without a time zone."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
