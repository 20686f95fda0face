"""CloudFormation's stacks and change sets; every creation, update and deletion is a run in the background."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, cast

from moto.cloudformation.exceptions import AlreadyExistsException, CloudFormationError, ValidationError
from moto.cloudformation.models import CloudFormationBackend, Stack
from moto.cloudformation.utils import generate_changeset_id, generate_stack_id, validate_create_change_set

from fleet_emulator import process_state
from fleet_emulator.stacks import responses
from fleet_emulator.stacks.changes import EmbeddedChangeSet
from fleet_emulator.stacks.drift import Detection, drift_of
from fleet_emulator.stacks.rollback import UpdateRollback
from fleet_emulator.stacks.run import Deletion, Run
from fleet_emulator.stacks.stack import EmbeddedStack, Target
from fleet_emulator.state_lock import handed_over

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


class EmbeddedCloudFormation(CloudFormationBackend):
    """One account's CloudFormation in one region."""

    @property
    def _url_module(self) -> ModuleType:
        return responses

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
        if stack.detection is not None and not stack.detection_ended:
            raise ValidationError(
                message=f"Drift detection is already in progress for stack [{stack.stack_id}]"
            )
        for logical_id in logical_ids:
            if logical_id not in stack.deployed:
                raise ValidationError(message=f"Resource {logical_id} does not exist for stack {stack.name}")
        wanted = logical_ids or list(stack.deployed)
        drifts = tuple(drift_of(stack.deployed[each], stack.stack_id) for each in wanted)
        stack.detection, stack.detection_ended = Detection(stack_id=stack.stack_id, drifts=drifts), False
        stack.drifts |= {each["LogicalResourceId"]: each for each in drifts}
        return stack.detection

    def drift_status(self, detection_id: str) -> dict[str, Any]:
        """DescribeStackDriftDetectionStatus; a detection is in progress when it is first asked about.

        Raises:
            ValidationError: there is no such detection.
        """
        for each in self.stacks.values():
            stack = cast(EmbeddedStack, each)
            if stack.detection is not None and stack.detection.id == detection_id:
                status = stack.detection.status(ended=stack.detection_ended)
                stack.detection_ended = True
                return status
        raise ValidationError(message=f"Drift detection {detection_id} does not exist")

    def resource_drifts(self, name: str, statuses: Sequence[str]) -> list[dict[str, Any]]:
        """DescribeStackResourceDrifts: of what was checked, as it was then."""
        found = self._stack(name).drifts.values()
        return [
            each
            for each in found
            if each["StackResourceDriftStatus"] != "NOT_CHECKED"
            and (not statuses or each["StackResourceDriftStatus"] in statuses)
        ]

    def _run(self, stack: EmbeddedStack, target: Target) -> None:
        self._spawn(Run(stack, target), stack)

    @staticmethod
    def _spawn(run: Run | UpdateRollback | Deletion, stack: EmbeddedStack) -> None:
        thread = process_state.current().spawn(run.make, name=f"stack-{stack.name}")
        with handed_over():
            thread.join(_SECONDS_BEFORE_ANSWER)

    def _forget(self, stack: EmbeddedStack) -> None:
        self.deleted_stacks[stack.stack_id] = self.stacks.pop(stack.stack_id)

    def _change_sets_of(self, stack: EmbeddedStack) -> list[EmbeddedChangeSet]:
        found = [each for each in self.change_sets.values() if each.stack_id == stack.stack_id]
        return cast(list[EmbeddedChangeSet], found)

    def _stack(self, name_or_stack_id: str) -> EmbeddedStack:
        return cast(EmbeddedStack, self.get_stack(name_or_stack_id))

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
