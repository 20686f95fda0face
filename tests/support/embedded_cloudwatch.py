"""CloudWatch of an embedded AWS, and its statistics in a few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from moto.cloudwatch.models import cloudwatch_backends

from tests.support.embedded_keys import KEYS
from tests.support.running_aws import running_aws
from triton_fleet.awsapi.emulator import local_session

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch.client import CloudWatchClient

REGION = "us-east-1"
CURRENT_TIME = datetime(2026, 8, 21, 12, 0, 30, tzinfo=UTC)
"""When the tests' values are measured, where they choose."""


@contextmanager
def embedded_cloudwatch() -> Iterator[CloudWatchClient]:
    """CloudWatch of an embedded AWS."""
    with running_aws() as aws:
        yield local_session(REGION, KEYS).client("cloudwatch", endpoint_url=aws.url)


def forget() -> None:
    """Make it empty again."""
    cloudwatch_backends.reset()


def values(
    cloudwatch: CloudWatchClient,
    namespace: str,
    name: str,
    dimensions: Mapping[str, str],
    *,
    statistic: str = "Sum",
    start: datetime,
    end: datetime,
) -> dict[datetime, float]:
    """One metric's values by minute."""
    pairs: list[Any] = [{"Name": key, "Value": value} for key, value in dimensions.items()]
    metric: Any = {"Namespace": namespace, "MetricName": name, "Dimensions": pairs}
    stat: Any = {"Metric": metric, "Period": 60, "Stat": statistic}
    answer = cloudwatch.get_metric_data(
        MetricDataQueries=[{"Id": "it", "MetricStat": stat}], StartTime=start, EndTime=end
    )
    (data_result,) = answer["MetricDataResults"]
    moments = [moment.astimezone(UTC) for moment in data_result["Timestamps"]]
    return dict(sorted(zip(moments, data_result["Values"], strict=True)))
