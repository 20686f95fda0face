"""Names that a change set would create and that exist already: CloudFormation's early validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from fleet_emulator.types.resource import RETAINING, Declaration, Resource

FAILED_VALIDATION = (
    "The following hook(s)/validation failed: [AWS::EarlyValidation::ResourceExistenceCheck]. To "
    "troubleshoot Early Validation errors, use the DescribeEvents API for detailed failure information."
)
"""Source: github.com/aws/aws-cdk-cli issue 1000, and further public reports."""
_NOT_IMPORTABLE = (
    "CloudFormation is attempting to import some resources because they already exist in your account. The "
    "resources must have the DeletionPolicy attribute set to 'Retain' or 'RetainExceptOnCreate' in the "
    "template for successful import. The affected resources are {}"
)
"""Source: the CDK CLI, which reads this text; its middle part is from memory."""


@dataclass(frozen=True, kw_only=True)
class NameConflict:
    """A resource that a change set would create, and the one that has its name."""

    declared: Declaration
    resource: Resource
    id: str = field(default_factory=lambda: str(uuid4()))
    time: datetime = field(default_factory=lambda: datetime.now(UTC))

    def as_event(self, stack_id: str) -> dict[str, Any]:
        """The event of it in DescribeEvents.

        Source of the texts: github.com/aws-cloudformation/rain pull request 744.
        """
        kind, logical_id = self.declared.type, self.declared.logical_id
        whose = f"type '{kind}' with identifier '{self.resource.physical_resource_id}'"
        return {
            "EventId": self.id,
            "StackId": stack_id,
            "OperationType": "CREATE_CHANGESET",
            "EventType": "VALIDATION_ERROR",
            "LogicalResourceId": logical_id,
            "PhysicalResourceId": "",
            "ResourceType": kind,
            "Timestamp": self.time,
            "ValidationFailureMode": "FAIL",
            "ValidationName": "NAME_CONFLICT_VALIDATION",
            "ValidationStatus": "FAILED",
            "ValidationStatusReason": f"Resource of {whose} already exists.",
            "ValidationPath": f"/Resources/{logical_id}",
        }


def import_refusal(conflicts: Sequence[NameConflict]) -> str:
    """Why the resources that have the names are not imported; "" if they are."""
    unkept = [conflict for conflict in conflicts if conflict.declared.deletion_policy not in RETAINING]
    names = (f"{each.declared.logical_id} ({each.resource.physical_resource_id})" for each in unkept)
    return _NOT_IMPORTABLE.format(", ".join(names)) if unkept else ""
