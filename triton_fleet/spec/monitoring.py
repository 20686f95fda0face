"""Monitoring of an endpoint: metrics, logs and data capture."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.properties import property_at
from triton_fleet.spec.values import Document, Mistake, Seconds, Share, require_unique

DIMENSIONS = 30
"""The most dimensions of a metric; source: CloudWatch API reference, Metric."""

Dimension = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$")]
PUBLISH_SECONDS = 60
"""Seconds between two values of a metric, unless SageMaker has another interval."""


def _published_by_sagemaker(seconds: int) -> int:
    intervals = property_at(
        "EndpointConfig", ("MetricsConfig", "MetricPublishFrequencyInSeconds")
    ).property.allowed_values
    if seconds not in intervals:
        choices = ", ".join(f"`{interval}s`" for interval in intervals)
        raise Mistake("SageMaker does not publish metrics at that interval", f"write one of {choices}")
    return seconds


class Metrics(Document):
    """Metrics in addition to SageMaker's own."""

    triton: bool = True
    """Let the container publish Triton's metrics to CloudWatch."""
    detailed_observability: bool = False
    """SageMaker's own collector of GPU and host metrics, queried with PromQL and billed by sample.
    SageMaker's own default is on."""
    enhanced: Annotated[bool, Field(title="Enhanced metrics")] = False
    """Publish SageMaker's metrics for each instance, container and GPU too; each metric is billed."""
    publish_every: (
        Annotated[Seconds, Field(ge=10, le=300), AfterValidator(_published_by_sagemaker)] | None
    ) = None
    """How often SageMaker publishes the instances' utilisation, 10s to 5m: every 10, 30, 60, 120, 180, 240 or
    300 seconds. This includes the metrics of calls with `enhanced`, and those of the collector with
    `detailed_observability`. Neither `enhanced` nor `scaling` on utilisation allows more than 60s. Default:
    every 60s."""
    triton_dimensions: Annotated[
        tuple[Dimension, ...], Field(strict=False, max_length=DIMENSIONS), AfterValidator(require_unique)
    ] = ()
    """The dimensions of Triton's metrics, as `aws cloudwatch list-metrics --namespace TritonFleet/NAME` shows
    them, such as `[model, version, reason, gpu_uuid]`; default: the dashboard finds the metrics with any
    dimensions."""

    @property
    def interval(self) -> int:
        """Seconds between two values that an instance publishes of its utilization.

        Those of calls follow only with `enhanced`. Source: SageMaker API reference, MetricsConfig.
        """
        return PUBLISH_SECONDS if self.publish_every is None else self.publish_every


_DAYS: tuple[int, ...] = tuple(data_file("log_retention.yaml")["days"])


def _taken_by_cloudwatch(days: int) -> int:
    if days not in _DAYS:
        raise ValueError(f"CloudWatch accepts only {', '.join(map(str, _DAYS))} days as retention")
    return days


class Logs(Document):
    """The endpoint's log groups: that of its containers and that of Triton's metrics."""

    retention_days: Annotated[
        int, AfterValidator(_taken_by_cloudwatch), WithJsonSchema({"type": "integer", "enum": list(_DAYS)})
    ] = 30
    """Days after which log events are deleted: 1, 3, 5, 7, 14, 30, 60, 90 and so on, at most 3653."""


def _whole(share: float) -> float:
    if not share.is_integer():
        raise ValueError("SageMaker captures whole percents: write `1%` or more, without a fraction")
    return share


WholeShare = Annotated[
    Share,
    AfterValidator(_whole),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,3}%$", "examples": ["10%", "100%"]}),
]
"""A share in whole percent."""


class Capture(Document):
    """SageMaker's data capture, into the endpoint's own prefix of the artifact bucket."""

    sample: WholeShare
    """Share of calls to capture, `1%` to `100%` in whole percent."""
    requests: bool = True
    """Capture requests."""
    responses: bool = True
    """Capture responses."""

    @model_validator(mode="after")
    def _require_capture(self) -> Self:
        if not self.requests and not self.responses:
            raise ValueError("this captures nothing: leave `capture` out, or keep `requests` or `responses`")
        return self
