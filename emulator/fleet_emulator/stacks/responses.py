"""CloudFormation's API calls that moto does not know, or for which it forgets the stack."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, cast

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.responses import CloudFormationResponse
from moto.cloudformation.urls import url_bases
from moto.core.responses import ActionResult, EmptyResult

if TYPE_CHECKING:
    from moto.cloudformation.models import Stack

    from fleet_emulator.stacks.backend import EmbeddedCloudFormation
    from fleet_emulator.stacks.stack import EmbeddedStack


__all__ = ["EmbeddedCloudFormationResponse", "url_bases", "url_paths"]


class EmbeddedCloudFormationResponse(CloudFormationResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call.

    All change sets of the CDK CLI have one name, so here they are found by stack and name.
    """

    @property
    def _backend(self) -> EmbeddedCloudFormation:
        return cast("EmbeddedCloudFormation", self.cloudformation_backend)

    def describe_change_set(self) -> ActionResult:
        """DescribeChangeSet; the CLI waits for the error ChangeSetNotFound after each deletion."""
        change_set = self._backend.change_set(self._get_param("StackName"), self._get_param("ChangeSetName"))
        shown: Any = copy(change_set)
        shown.changes = change_set.as_changes(values=bool(self._get_bool_param("IncludePropertyValues")))
        return ActionResult(shown)

    def delete_change_set(self) -> ActionResult:
        """DeleteChangeSet, which is content with one that does not exist."""
        self._backend.discard_change_set(self._get_param("StackName"), self._get_param("ChangeSetName"))
        return EmptyResult()

    def create_change_set(self) -> ActionResult:
        """CreateChangeSet, of which moto knows neither DeploymentMode nor ImportExistingResources."""
        mode = self._get_param("DeploymentMode")
        if mode is None:
            created = super().create_change_set()
            if self._get_bool_param("ImportExistingResources", False):
                self._backend.change_set(None, cast(Any, created.result)["Id"]).import_existing()
            return created
        name, stack = self._get_param("ChangeSetName"), self._backend.get_stack(self._get_param("StackName"))
        if not self._get_bool_param("UsePreviousTemplate", False):
            raise ValidationError(message="DeploymentMode is hosted here with UsePreviousTemplate alone")
        previous = {
            each["ParameterKey"]
            for each in self._get_param("Parameters", [])
            if each.get("UsePreviousValue") in (True, "true")
        }
        parameters = {key: value for key, value in stack.stack_parameters.items() if key in previous}
        tags = {each["Key"]: each["Value"] for each in self._get_param("Tags", [])}
        id, stack_id = self._backend.create_change_set(
            stack.stack_id,
            name,
            str(stack.template),
            parameters,
            "",
            "UPDATE",
            tags=tags or stack.tags,
            reverts_drift=True,
        )
        return ActionResult({"Id": id, "StackId": stack_id})

    def detect_stack_drift(self) -> ActionResult:
        """DetectStackDrift."""
        found = self._backend.detect_drift(
            self._get_param("StackName"), self._get_param("LogicalResourceIds", [])
        )
        return ActionResult({"StackDriftDetectionId": found.id})

    def describe_stack_drift_detection_status(self) -> ActionResult:
        """DescribeStackDriftDetectionStatus."""
        return ActionResult(self._backend.drift_status(self._get_param("StackDriftDetectionId")))

    def describe_stack_resource_drifts(self) -> ActionResult:
        """DescribeStackResourceDrifts."""
        found = self._backend.resource_drifts(
            self._get_param("StackName"), self._get_param("StackResourceDriftStatusFilters", [])
        )
        return ActionResult({"StackResourceDrifts": found})

    def describe_stack_events(self) -> ActionResult:
        """DescribeStackEvents; the CLI knows a deleted stack by this error's exact words."""
        name = self._get_param("StackName")
        try:
            events = self._backend.describe_stack_events(name)
        except ValidationError:
            raise ValidationError(message=f"Stack [{name}] does not exist") from None
        return ActionResult({"StackEvents": events[::-1]})

    def describe_events(self) -> ActionResult:
        """DescribeEvents of a change set: what its early validation has found; nothing of stacks."""
        change_set = self._backend.change_set(self._get_param("StackName"), self._get_param("ChangeSetName"))
        found = [each.as_event(change_set.stack_id) for each in change_set.conflicts]
        return ActionResult({"OperationEvents": found})

    def describe_stack_resources(self) -> ActionResult:
        """DescribeStackResources; moto gives each resource the status of the stack."""
        stack, resources = self._backend.describe_stack_resources(
            self._get_param("StackName"), self._get_param("LogicalResourceId")
        )
        return ActionResult(
            {"StackResources": [_resource(cast("EmbeddedStack", stack), each) for each in resources]}
        )

    def continue_update_rollback(self) -> ActionResult:
        """ContinueUpdateRollback."""
        skipped = self._get_param("ResourcesToSkip", [])
        self._backend.continue_update_rollback(self._get_param("StackName"), skipped)
        return EmptyResult()

    def list_stacks(self) -> ActionResult:
        """ListStacks, deleted ones included; moto leaves out their names."""
        found = self._backend.list_stacks(self._get_param("StackStatusFilter", []))
        summaries = [
            {
                "StackId": stack.stack_id,
                "StackName": stack.name,
                "CreationTime": stack.creation_time,
                "StackStatus": stack.status,
            }
            for stack in found
        ]
        return ActionResult({"StackSummaries": summaries})

    def update_termination_protection(self) -> ActionResult:
        """UpdateTerminationProtection."""
        stack = self._backend.get_stack(self._get_param("StackName"))
        stack.enable_termination_protection = self._get_bool_param("EnableTerminationProtection")
        return ActionResult({"StackId": stack.stack_id})

    def _validate_different_update(
        self, incoming_params: list[dict[str, str]] | None, stack_body: str, old_stack: Stack
    ) -> None:
        # moto refuses here what CloudFormation answers with a failed change set; the backend looks closer.
        return


def _resource(stack: EmbeddedStack, resource: Any) -> dict[str, Any]:
    event = stack.last_event_of(resource)
    return {
        "StackId": stack.stack_id,
        "StackName": stack.name,
        "LogicalResourceId": resource.logical_resource_id,
        "PhysicalResourceId": resource.physical_resource_id,
        "ResourceType": resource.cf_resource_type,
        "Timestamp": event.timestamp,
        "ResourceStatus": event.resource_status,
        "ResourceStatusReason": event.resource_status_reason,
    }


url_paths = {"{0}/$": EmbeddedCloudFormationResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
