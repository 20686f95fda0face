"""What the endpoint measures, and how often SageMaker publishes it."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, field_validator

from triton_fleet.catalog.properties import property_at
from triton_fleet.spec.mistake import Mistake
from triton_fleet.spec.values import Document, Seconds

DIMENSIONS = 30
"""The most dimensions of a metric; source: CloudWatch API reference, Metric."""

Dimension = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,254}$")]
PUBLISHED = 60
"""Seconds between two values of a metric, unless SageMaker has another interval."""


def _published_by_sagemaker(seconds: int) -> int:
    allowed = property_at(
        "EndpointConfig", ("MetricsConfig", "MetricPublishFrequencyInSeconds")
    ).property.allowed
    if seconds not in allowed:
        listed = ", ".join(f"`{each}s`" for each in allowed)
        raise Mistake("SageMaker does not publish metrics at that interval", f"write one of {listed}")
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
    triton_dimensions: tuple[Dimension, ...] = Field(default=(), strict=False, max_length=DIMENSIONS)
    """The dimensions of Triton's metrics, as `aws cloudwatch list-metrics --namespace TritonFleet/NAME` shows
    them, such as `[model, version, reason, gpu_uuid]`; default: the dashboard finds the metrics with any
    dimensions."""

    @field_validator("triton_dimensions")
    @classmethod
    def _require_unique_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if twice := sorted(name for name, count in Counter(names).items() if count > 1):
            raise ValueError(f"{twice[0]!r} is listed twice")
        return names

    @property
    def interval(self) -> int:
        """Seconds between two values that an instance publishes of its utilization.

        Those of calls follow only with `enhanced`. Source: SageMaker API reference, MetricsConfig.
        """
        return PUBLISHED if self.publish_every is None else self.publish_every
