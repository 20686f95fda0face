"""CloudWatch's API calls that moto answers only in part."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from moto.cloudwatch.responses import CloudWatchResponse
from moto.cloudwatch.urls import url_bases
from moto.core.responses import ActionResult

from fleet_emulator.cloudwatch.store import Metric

if TYPE_CHECKING:
    from fleet_emulator.cloudwatch.backend import EmbeddedCloudWatch


__all__ = ["EmbeddedCloudWatchResponse", "url_bases", "url_paths"]


class EmbeddedCloudWatchResponse(CloudWatchResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def get_metric_statistics(self) -> ActionResult:
        """GetMetricStatistics; moto leaves percentiles out."""
        backend = cast("EmbeddedCloudWatch", self.cloudwatch_backend)
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


url_paths = {"{0}/$": EmbeddedCloudWatchResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
