"""The recent invocations of an endpoint, and how many of them failed, by SageMaker's metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from triton_fleet.catalog.metrics import endpoint_metric

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricDataQueryTypeDef

MIN_FAILING_SHARE = 0.5
"""The least share of failed invocations with which an endpoint is not healthy; fewer are only noted."""
PERIOD_SECONDS = 60
"""SageMaker publishes once a minute; CloudWatch rounds the start of a window down to a period."""
MEASURES = ("invocations", "errors_4xx", "errors_5xx", "model_errors")


@dataclass(frozen=True, kw_only=True)
class Calls:
    """The invocations of all variants since a time; `reason` is why most of them failed, if a log has it.

    `model_errors` overlaps with the statuses: it also counts broken connections and time-outs.
    """

    since: datetime
    invocations: int
    errors_4xx: int
    errors_5xx: int
    model_errors: int
    reason: str = ""

    @property
    def failure_count(self) -> int:
        """How many failed; no more than there were, as metrics of one minute may arrive apart."""
        return min(self.invocations, max(self.errors_4xx + self.errors_5xx, self.model_errors))

    @property
    def is_failing(self) -> bool:
        """Whether so many failed that the endpoint is not healthy."""
        return self.failure_count > 0 and self.failure_count >= MIN_FAILING_SHARE * self.invocations

    def __str__(self) -> str:
        """For people."""
        since = f"since {self.since:%Y-%m-%d %H:%M} UTC"
        if not self.invocations:
            return f"none {since}"
        if not self.failure_count:
            return f"{self.invocations} {since}, none failed"
        counts = {"4XX": self.errors_4xx, "5XX": self.errors_5xx}
        statuses = " and ".join(f"{count} with {status}" for status, count in counts.items() if count)
        reason = f": {self.reason}" if self.reason else ""
        return (
            f"{self.failure_count} of {self.invocations} {since} failed ({statuses or 'no answer'}){reason}"
        )


def read_calls(
    cloudwatch: CloudWatchClient, endpoint: str, variants: Sequence[str], since: datetime, end: datetime
) -> Calls:
    """The invocations of an endpoint's variants in a window, in the clients' region.

    Raises:
        ClientError: access is denied.
    """
    series = [(measure, variant) for variant in variants for measure in MEASURES]
    queries = {f"m{index}": pair for index, pair in enumerate(series)}
    pages = cloudwatch.get_paginator("get_metric_data").paginate(
        MetricDataQueries=[_query(id, endpoint, *pair) for id, pair in queries.items()],
        StartTime=since,
        # The end is exclusive, and the last value may be of this second.
        EndTime=end + timedelta(seconds=PERIOD_SECONDS),
    )
    sums = Counter[str]()
    for result in (entry for page in pages for entry in page["MetricDataResults"]):
        sums[queries[result["Id"]][0]] += round(sum(result["Values"]))
    return Calls(
        since=since,
        invocations=sums["invocations"],
        errors_4xx=sums["errors_4xx"],
        errors_5xx=sums["errors_5xx"],
        model_errors=sums["model_errors"],
    )


def _query(id: str, endpoint: str, measure: str, variant: str) -> MetricDataQueryTypeDef:
    metric = endpoint_metric(measure)
    values = zip(metric.dimensions, (endpoint, variant), strict=True)
    return {
        "Id": id,
        "MetricStat": {
            "Metric": {
                "Namespace": metric.namespace,
                "MetricName": metric.name,
                "Dimensions": [{"Name": name, "Value": value} for name, value in values],
            },
            "Period": PERIOD_SECONDS,
            "Stat": "Sum",
        },
    }
