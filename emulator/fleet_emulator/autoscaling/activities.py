"""Scaling activities: what Application Auto Scaling has asked of an endpoint, and how it ended."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from moto.core.exceptions import ServiceException

from fleet_emulator.autoscaling.targets import TargetId
from fleet_emulator.autoscaling.variants import INSTANCE_COUNT, NAMESPACE, ScaledVariant
from fleet_emulator.failures import reason_of

_SUCCESS = "Successfully set desired instance count to {}. Change successfully fulfilled by sagemaker."
_PROGRESS = "Successfully set desired instance count to {}. Waiting for change to be fulfilled by sagemaker."
_FAILURE = "Failed to set desired instance count to {}. Reason: {}"


@dataclass(kw_only=True)
class ScalingActivity:
    """One change of a variant's instances, in progress until `end` or `refuse`.

    Source of the texts: AWS's user guides of Application Auto Scaling and of SageMaker, which show answers of
    DescribeScalingActivities.
    """

    target: TargetId
    capacity: int
    cause: str
    id: str = field(default_factory=lambda: str(uuid4()))
    start_time: float = field(default_factory=time.time)
    end_time: float | None = None
    status: str = "InProgress"
    message: str = ""

    def __post_init__(self) -> None:
        self.message = _PROGRESS.format(self.capacity)

    def end(self) -> None:
        """Record that the instances are in service."""
        self.end_time, self.status, self.message = time.time(), "Successful", _SUCCESS.format(self.capacity)

    def refuse(self, reason: str) -> None:
        """Record SageMaker's refusal."""
        self.end_time, self.status = time.time(), "Failed"
        self.message = _FAILURE.format(self.capacity, reason)

    def answer(self) -> dict[str, Any]:
        """The activity as DescribeScalingActivities shows it."""
        end = {} if self.end_time is None else {"EndTime": self.end_time}
        return {
            "ActivityId": self.id,
            "ServiceNamespace": self.target.namespace,
            "ResourceId": self.target.resource_id,
            "ScalableDimension": self.target.dimension,
            "Description": f"Setting desired instance count to {self.capacity}.",
            "Cause": self.cause,
            "StartTime": self.start_time,
            "StatusCode": self.status,
            "StatusMessage": self.message,
            **end,
        }


class ScalingActivities:
    """The activities of one account and region."""

    def __init__(self) -> None:
        self._activities: list[ScalingActivity] = []

    def begin(self, variant: ScaledVariant, capacity: int, cause: str) -> None:
        """Begin an activity; one that SageMaker refuses has failed."""
        target = TargetId(NAMESPACE, variant.resource_id, INSTANCE_COUNT)
        activity = ScalingActivity(target=target, capacity=capacity, cause=cause)
        self._activities.append(activity)
        try:
            variant.change(capacity, activity.end)
        except ServiceException as error:
            activity.refuse(reason_of(error))

    def answers(self, *filters: str | None) -> list[dict[str, Any]]:
        """The answer of DescribeScalingActivities, the newest first.

        `filters` are a namespace, a resource and a dimension; None finds each.
        """
        return [
            activity.answer()
            for activity in reversed(self._activities)
            if all(
                filter_value in (None, own)
                for filter_value, own in zip(filters, activity.target, strict=True)
            )
        ]
