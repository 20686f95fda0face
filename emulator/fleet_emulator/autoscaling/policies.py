"""Which scaling policies a target may have beside each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from moto.applicationautoscaling.models import FakeApplicationAutoscalingPolicy

from fleet_emulator.autoscaling.targets import InvalidError

_METRICS = ("PredefinedMetricSpecification", "CustomizedMetricSpecification")


def require_untracked_metric(
    name: str, body: Mapping[str, Any], others: Iterable[FakeApplicationAutoscalingPolicy]
) -> None:
    """Refuse a second policy of a target that tracks the same metric.

    Source of the rule and the words: aws/aws-cdk 17956, hashicorp/terraform-provider-aws 41179.

    Raises:
        InvalidError: another policy tracks it.
    """
    metric = _metric(body)
    for other in others:
        other_metric = _metric(other.target_tracking_scaling_policy_configuration or {})
        if metric is not None and other.policy_name != name and other_metric == metric:
            raise InvalidError(
                "Only one TargetTrackingScaling policy for a given metric specification is allowed."
            )


def _metric(body: Mapping[str, Any]) -> Any:
    return next((body[kind] for kind in _METRICS if kind in body), None)
