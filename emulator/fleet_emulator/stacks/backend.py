"""CloudFormation's stacks and change sets; every creation, update and deletion is a run in the background."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, cast

from moto.cloudformation.exceptions import AlreadyExistsException, CloudFormationError, ValidationError
from moto.cloudformation.models import Stack
from moto.cloudformation.urls import url_bases
from moto.cloudformation.utils import generate_changeset_id, generate_stack_id, validate_create_change_set
from moto.core.responses import ActionResult, EmptyResult

from fleet_emulator import process_state
from fleet_emulator.process_state import handed_over
from fleet_emulator.service_urls import ServiceUrls
from fleet_emulator.stacks.changes import EmbeddedChangeSet
from fleet_emulator.stacks.drift_detection import DriftBackend, DriftResponse
from fleet_emulator.stacks.run import Deletion, Run
from fleet_emulator.stacks.stack import EmbeddedStack, StoppedRollback, Target

_NOT_UPDATABLE = (
    "DELETE_FAILED",
    "REVIEW_IN_PROGRESS",
    "ROLLBACK_COMPLETE",
    "ROLLBACK_FAILED",
    "UPDATE_ROLLBACK_FAILED",
)
# The CDK CLI looks at once and then again only after five seconds: a shorter run need not cost it those.
_SECONDS_BEFORE_ANSWER = 4.0


class ChangeSetNotFoundError(CloudFormationError):
    """The error by which the CDK CLI knows that a change set is gone."""

    code = "ChangeSetNotFound"


class EmbeddedCloudFormation(DriftBackend):
    """One account's CloudFormation in one region."""

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedCloudFormationResponse.dispatch})

    def create_stack(
        self,
        name: str,
        template: str,
        parameters: dict[str, Any],
        notification_arns: list[str] | None = None,
        tags: dict[str, str] | None = None,
        role_arn: str | None = None,
        enable_termination_protection: bool | None = False,
        timeout_in_mins: int | None = None,
        stack_policy_body: str | None = None,
    ) -> Stack:
        """CreateStack."""
        stack = self._find_planned(name)
        target = Target(template=template, parameters=parameters, tags=tags or {})
        stack.resolved(stack.parse_template(template), parameters)  # refuses what cannot even be started
        self.stacks[stack.stack_id] = stack
        stack.enable_termination_protection = bool(enable_termination_protection)
        self._run(stack, target)
        return stack

    def update_stack(
        self,
        name: str,
        template: str,
        role_arn: str | None,
        parameters: list[dict[str, Any]],
        tags: dict[str, str] | None,
    ) -> Stack:
        """UpdateStack."""
        stack = self._updatable(name)
        resolved: Mapping[str, Any] = self._resolve_update_parameters(stack, parameters)
        target = Target(template=template, parameters=resolved, tags=stack.tags if tags is None else tags)
        if not stack.would_change(target):
            raise ValidationError(message="No updates are to be performed.")
        self._run(stack, target)
        return stack

    def continue_update_rollback(self, name: str, skipped: list[str]) -> None:
        """ContinueUpdateRollback.

        Raises:
            ValidationError: no rollback of the stack has failed, or not at a resource that is to be skipped;
                the words are from memory.
        """
        stack = self._stack(name)
        if stack.rollback is None:
            raise ValidationError(
                message=f"Stack:{stack.stack_id} is in {stack.status} state and can not be rolled back."
            )
        for logical_id in skipped:
            if logical_id not in stack.rollback.failed:
                raise ValidationError(
                    message=f"Resource [{logical_id}] cannot be skipped: it is not in UPDATE_FAILED because "
                    "the rollback failed"
                )
        self._spawn(stack.rollback.continued(skipped), stack)

    def delete_stack(self, name_or_stack_id: str) -> None:
        """DeleteStack; a stack that does not exist is ignored."""
        try:
            stack = self._stack(name_or_stack_id)
        except ValidationError:
            return
        if stack.stack_id in self.deleted_stacks:
            return
        if stack.enable_termination_protection:
            raise ValidationError(
                message=f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
            )
        self._refuse_in_progress(stack, "deleted")
        for change_set in self._change_sets_of(stack):
            del self.change_sets[change_set.change_set_id]
        self._spawn(Deletion(stack, forget=self._forget), stack)

    def create_change_set(
        self,
        stack_name: str,
        change_set_name: str,
        template: str,
        parameters: dict[str, str],
        description: str,
        change_set_type: str,
        notification_arns: list[str] | None = None,
        tags: dict[str, str] | None = None,
        role_arn: str | None = None,
        *,
        reverts_drift: bool = False,
    ) -> tuple[str, str]:
        """CreateChangeSet; the resources do not change before it is executed."""
        validate_create_change_set(change_set_name)
        stack = self._updatable(stack_name) if change_set_type == "UPDATE" else self._find_planned(stack_name)
        change_set = EmbeddedChangeSet(
            change_set_type=change_set_type,
            change_set_id=generate_changeset_id(change_set_name, self.region_name, self.account_id),
            change_set_name=change_set_name,
            stack=stack,
            template=template,
            parameters=parameters,
            description=description,
            notification_arns=notification_arns,
            tags=tags,
            role_arn=role_arn,
        )
        if reverts_drift:
            change_set.reverted = stack.drifted()
        change_set.validate()
        self.stacks[stack.stack_id] = stack
        self.change_sets[change_set.change_set_id] = change_set
        return change_set.change_set_id, stack.stack_id

    def change_set(self, stack_name: str | None, change_set_name: str) -> EmbeddedChangeSet:
        """The change set of a stack by its name, or any by its ARN.

        Raises:
            ChangeSetNotFoundError: there is none.
        """
        if change_set_name in self.change_sets:
            return cast(EmbeddedChangeSet, self.change_sets[change_set_name])
        for change_set in self._change_sets_of(self._stack(stack_name or "")):
            if change_set.change_set_name == change_set_name:
                return change_set
        raise ChangeSetNotFoundError(f"ChangeSet [{change_set_name}] does not exist")

    def discard_change_set(self, stack_name: str | None, change_set_name: str) -> None:
        """Forget a change set, if it exists."""
        try:
            change_set = self.change_set(stack_name, change_set_name)
        except ChangeSetNotFoundError:
            return
        del self.change_sets[change_set.change_set_id]

    def execute_change_set(self, change_set_name: str, stack_name: str | None = None) -> None:
        """ExecuteChangeSet; the stack's other change sets are deleted (API reference)."""
        change_set = self.change_set(stack_name, change_set_name)
        if change_set.execution_status != "AVAILABLE":
            raise CloudFormationError(
                "InvalidChangeSetStatus",
                f"ChangeSet [{change_set.change_set_id}] cannot be executed in its current status of "
                f"[{change_set.status}]",
            )
        stack = self._stack(change_set.stack_id)
        self._refuse_in_progress(stack, "updated")
        change_set.execution_status = "EXECUTE_COMPLETE"
        for other in self._change_sets_of(stack):
            if other is not change_set:
                del self.change_sets[other.change_set_id]
        self._run(stack, change_set.target)

    def _run(self, stack: EmbeddedStack, target: Target) -> None:
        self._spawn(Run(stack, target), stack)

    @staticmethod
    def _spawn(run: Run | StoppedRollback | Deletion, stack: EmbeddedStack) -> None:
        thread = process_state.current().spawn(run.make, name=f"stack-{stack.name}")
        with handed_over():
            thread.join(_SECONDS_BEFORE_ANSWER)

    def _forget(self, stack: EmbeddedStack) -> None:
        self.deleted_stacks[stack.stack_id] = self.stacks.pop(stack.stack_id)

    def _change_sets_of(self, stack: EmbeddedStack) -> list[EmbeddedChangeSet]:
        found = [
            change_set for change_set in self.change_sets.values() if change_set.stack_id == stack.stack_id
        ]
        return cast(list[EmbeddedChangeSet], found)

    def _updatable(self, name: str) -> EmbeddedStack:
        stack = self._stack(name)
        self._refuse_in_progress(stack, "updated")
        if stack.status in _NOT_UPDATABLE:
            raise ValidationError(
                message=f"Stack:{stack.stack_id} is in {stack.status} state and can not be updated."
            )
        return stack

    def _find_planned(self, name: str) -> EmbeddedStack:
        """A stack that is only a plan: the one whose change set was never executed, or a new one."""
        for stack in self.stacks.values():
            if stack.name == name and stack.status == "REVIEW_IN_PROGRESS":
                return cast(EmbeddedStack, stack)
            if stack.name == name:
                raise AlreadyExistsException(f"Stack [{name}] already exists and cannot be created again")
        stack = EmbeddedStack(
            name=name,
            stack_id=generate_stack_id(name, self.region_name, self.account_id),
            account_id=self.account_id,
            region=self.region_name,
        )
        stack.enter("REVIEW_IN_PROGRESS", "User Initiated")
        return stack

    @staticmethod
    def _refuse_in_progress(stack: EmbeddedStack, verb: str) -> None:
        if stack.in_progress:
            raise ValidationError(
                message=f"Stack:{stack.stack_id} is in {stack.status} state and can not be {verb}."
            )


class EmbeddedCloudFormationResponse(DriftResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call.

    All change sets of the CDK CLI have one name, so here they are found by stack and name.
    """

    @property
    def _backend(self) -> EmbeddedCloudFormation:
        return cast(EmbeddedCloudFormation, self.cloudformation_backend)

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
        events = [conflict.as_event(change_set.stack_id) for conflict in change_set.conflicts]
        return ActionResult({"OperationEvents": events})

    def describe_stack_resources(self) -> ActionResult:
        """DescribeStackResources; moto gives each resource the status of the stack."""
        stack, resources = self._backend.describe_stack_resources(
            self._get_param("StackName"), self._get_param("LogicalResourceId")
        )
        return ActionResult(
            {"StackResources": [_resource(cast(EmbeddedStack, stack), resource) for resource in resources]}
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
