"""The detection of drift: its state and API calls, which moto does not know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import CloudFormationBackend
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult

from fleet_emulator.stacks.drift import Detection, drift_of
from fleet_emulator.stacks.stack import EmbeddedStack


class DriftBackend(CloudFormationBackend):
    """The detections of drift of one account's stacks in one region."""

    def detect_drift(self, name: str, logical_ids: Sequence[str]) -> Detection:
        """DetectStackDrift; the words of the second refusal are from memory.

        Raises:
            ValidationError: an operation is in progress, a detection is, or the stack has no such resource.
        """
        stack = self._stack(name)
        if stack.in_progress or stack.status == "REVIEW_IN_PROGRESS":
            raise ValidationError(
                message=f"Drift detection cannot be initiated on stack in {stack.status} state"
            )
        if stack.detection is not None and not stack.is_detection_over:
            raise ValidationError(
                message=f"Drift detection is already in progress for stack [{stack.stack_id}]"
            )
        for logical_id in logical_ids:
            if logical_id not in stack.deployed_resources:
                raise ValidationError(message=f"Resource {logical_id} does not exist for stack {stack.name}")
        checked_ids = logical_ids or list(stack.deployed_resources)
        drifts = tuple(drift_of(stack.deployed_resources[id], stack.stack_id) for id in checked_ids)
        stack.detection, stack.is_detection_over = Detection(stack_id=stack.stack_id, drifts=drifts), False
        stack.drifts |= {drift["LogicalResourceId"]: drift for drift in drifts}
        return stack.detection

    def drift_status(self, detection_id: str) -> dict[str, Any]:
        """DescribeStackDriftDetectionStatus; a detection is in progress when it is first asked about.

        Raises:
            ValidationError: there is no such detection.
        """
        for item in self.stacks.values():
            stack = cast(EmbeddedStack, item)
            if stack.detection is not None and stack.detection.id == detection_id:
                status = stack.detection.status(is_over=stack.is_detection_over)
                stack.is_detection_over = True
                return status
        raise ValidationError(message=f"Drift detection {detection_id} does not exist")

    def resource_drifts(self, name: str, statuses: Sequence[str]) -> list[dict[str, Any]]:
        """DescribeStackResourceDrifts: of what was checked, as it was then."""
        drifts = self._stack(name).drifts.values()
        return [
            drift
            for drift in drifts
            if drift["StackResourceDriftStatus"] != "NOT_CHECKED"
            and (not statuses or drift["StackResourceDriftStatus"] in statuses)
        ]

    def _stack(self, name_or_stack_id: str) -> EmbeddedStack:
        return cast(EmbeddedStack, self.get_stack(name_or_stack_id))


class DriftResponse(CloudFormationResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def detect_stack_drift(self) -> ActionResult:
        """DetectStackDrift."""
        detection = self._drift.detect_drift(
            self._get_param("StackName"), self._get_param("LogicalResourceIds", [])
        )
        return ActionResult({"StackDriftDetectionId": detection.id})

    def describe_stack_drift_detection_status(self) -> ActionResult:
        """DescribeStackDriftDetectionStatus."""
        return ActionResult(self._drift.drift_status(self._get_param("StackDriftDetectionId")))

    def describe_stack_resource_drifts(self) -> ActionResult:
        """DescribeStackResourceDrifts."""
        drifts = self._drift.resource_drifts(
            self._get_param("StackName"), self._get_param("StackResourceDriftStatusFilters", [])
        )
        return ActionResult({"StackResourceDrifts": drifts})

    @property
    def _drift(self) -> DriftBackend:
        return cast(DriftBackend, self.cloudformation_backend)
