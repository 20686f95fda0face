"""The run of a stack: its creation, update or deletion, and the rollback of one that fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace

from moto.cloudformation.exceptions import ValidationError

from fleet_emulator import failures
from fleet_emulator.process_state import turn
from fleet_emulator.stacks import steps
from fleet_emulator.stacks.resources import Resources, in_dependency_order
from fleet_emulator.stacks.stack import EmbeddedStack, Target
from fleet_emulator.stacks.steps import Change, Step, StepFailedError
from fleet_emulator.types.resource import RETAINING, DeployedResource


class CreateRollback:
    """The rollback of a creation, which deletes all that was made; what it cannot delete stays."""

    def __init__(self, stack: EmbeddedStack, made: Sequence[Step], reason: str) -> None:
        self._stack, self._made, self._reason = stack, made, reason
        stack.enter("ROLLBACK_IN_PROGRESS", reason)

    def make(self) -> None:
        """Delete in reverse."""
        stuck: list[str] = []
        for step in reversed(self._made):
            logical_id = step.after.logical_resource_id
            try:
                steps.undo_creation(self._stack, step)
            except StepFailedError:
                stuck.append(logical_id)
            else:
                del self._stack.deployed[logical_id]
        if stuck:
            reason = f"The following resource(s) failed to delete: [{', '.join(stuck)}]. "
            self._stack.enter("ROLLBACK_FAILED", reason)
        else:
            self._stack.enter("ROLLBACK_COMPLETE", self._reason)


class UpdateRollback:
    """The rollback of an update, which stops at the first resource that cannot be put back.

    `continued` is what ContinueUpdateRollback makes of it then. New resources are deleted when all others are
    as they were; a deletion that fails is reported, and fails nothing.
    """

    def __init__(self, stack: EmbeddedStack, made: Sequence[Step], reason: str) -> None:
        self._stack, self._pending = stack, list(made)
        self._new: list[DeployedResource] = []
        self._skipped: frozenset[str] = frozenset()
        stack.enter("UPDATE_ROLLBACK_IN_PROGRESS", reason)

    @property
    def failed(self) -> list[str]:
        """The logical id of the resource at which it stopped, the only one that may be skipped."""
        return [self._pending[-1].after.logical_resource_id] if self._pending else []

    @property
    def unlisted(self) -> list[DeployedResource]:
        """What exists besides the stack's resources, while it has stopped."""
        left = [step.before for step in self._pending if step.kind in (Change.REPLACED, Change.MOVED)]
        return [*self._new, *(each for each in reversed(left) if each is not None)]

    def continued(self, skipped: Collection[str]) -> UpdateRollback:
        """The same from where it stopped; what is skipped counts as it was before the update."""
        self._skipped, self._stack.rollback = frozenset(skipped), None
        self._stack.enter("UPDATE_ROLLBACK_IN_PROGRESS", "User Initiated")
        return self

    def make(self) -> None:
        """Put every resource back, then delete what is new."""
        while self._pending:
            step = self._pending[-1]
            try:
                self._new += self._put_back(step)
            except StepFailedError as failure:
                self._stack.rollback = self
                reason = f"The following resource(s) failed to update: [{failure.logical_id}]. "
                self._stack.enter("UPDATE_ROLLBACK_FAILED", reason)
                return
            self._pending.pop()
        if self._new:
            self._stack.enter("UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")
        for deployed in self._new:
            with suppress(StepFailedError):
                steps.let_go(self._stack, deployed)
        self._stack.enter("UPDATE_ROLLBACK_COMPLETE")

    def _put_back(self, step: Step) -> list[DeployedResource]:
        """Undo a step; what is returned has no place any more."""
        if step.after.logical_resource_id in self._skipped:
            steps.skip(self._stack, step)
            return []
        return steps.take_back(self._stack, step)


log = logging.getLogger("fleet_emulator")


class Run:
    """One creation or update; `make` returns when it is over, and never raises."""

    def __init__(self, stack: EmbeddedStack, target: Target) -> None:
        self._stack = stack
        self._target = target
        self._verb = "CREATE" if stack.status == "REVIEW_IN_PROGRESS" else "UPDATE"
        self._steps: list[Step] = []
        stack.enter(f"{self._verb}_IN_PROGRESS", "User Initiated")

    def make(self) -> None:
        """Bring every resource where the target wants it, or all back to where they were."""
        before = dict(self._stack.deployed)
        try:
            with turn():
                resources = self._resolve()
                order = in_dependency_order(resources.template["Resources"])
            wanted = [logical_id for logical_id in order if self._bring(logical_id, resources)]
            with turn():
                self._note_policies(resources)
                self._stack.become(self._target, resources)
        except StepFailedError as failure:
            if failure.step is not None:
                self._stack.deployed.setdefault(failure.logical_id, failure.step.after)
                self._steps.append(failure.step)
            action = "create" if self._verb == "CREATE" else "update"
            self._roll_back(f"The following resource(s) failed to {action}: [{failure.logical_id}]. ")
        except Exception as error:
            log.exception("the run of %s failed", self._stack.name)
            self._roll_back(failures.reason_of(error))
        else:
            self._clean_up([deployed for logical_id, deployed in before.items() if logical_id not in wanted])

    def _resolve(self) -> Resources:
        template = self._stack.parse_template(self._target.template)
        return self._stack.resolved(template, self._target.parameters)

    def _bring(self, logical_id: str, resources: Resources) -> bool:
        """Make the resource what it should be; False when its condition does not want it."""
        before = self._stack.deployed.get(logical_id)
        resource_type = resources.template["Resources"][logical_id]["Type"]
        with steps.resolution(self._stack, logical_id, resource_type):
            declared = resources.declared(logical_id)
            if before is not None and before.declared.type != resource_type:
                raise ValidationError(message="Update of resource type is not permitted.")
        if declared is None:
            return False
        if before is None:
            make = steps.adopt if logical_id in self._target.imported else steps.create
            self._steps.append(make(self._stack, declared))
        elif declared.changed(before.declared) or logical_id in self._target.reverted:
            self._steps.append(steps.change(self._stack, before, declared))
        resources.place(logical_id, self._stack.deployed[logical_id].resource)
        return True

    def _note_policies(self, resources: Resources) -> None:
        """What becomes of a resource later may change without the resource itself."""
        for logical_id, deployed in self._stack.deployed.items():
            declared = (
                resources.declared(logical_id) if logical_id in resources.template["Resources"] else None
            )
            if declared is not None:
                self._stack.deployed[logical_id] = replace(deployed, declared=declared)

    def _clean_up(self, unwanted: Sequence[DeployedResource]) -> None:
        """Delete what is no longer needed; a deletion that fails is reported, and fails nothing."""
        replaced = [
            step.before
            for step in self._steps
            if step.kind in (Change.REPLACED, Change.MOVED) and step.before is not None
        ]
        if unwanted or replaced:
            self._stack.enter(f"{self._verb}_COMPLETE_CLEANUP_IN_PROGRESS")
        for deployed in reversed([*unwanted, *replaced]):
            declared = deployed.declared
            gone = deployed in unwanted
            policy = declared.deletion_policy if gone else declared.update_replace_policy
            if policy in RETAINING:
                steps.retain(self._stack, deployed)
            else:
                try:
                    steps.delete(self._stack, deployed)
                except StepFailedError:
                    continue
            if gone:
                del self._stack.deployed[declared.logical_id]
        self._stack.enter(f"{self._verb}_COMPLETE")

    def _roll_back(self, reason: str) -> None:
        rollback = CreateRollback if self._verb == "CREATE" else UpdateRollback
        rollback(self._stack, self._steps, reason).make()


class Deletion:
    """One deletion; `make` returns when it is over, and never raises."""

    def __init__(self, stack: EmbeddedStack, *, forget: Callable[[EmbeddedStack], None]) -> None:
        self._stack = stack
        self._forget = forget
        stack.enter("DELETE_IN_PROGRESS", "User Initiated")

    def make(self) -> None:
        """Delete or retain every resource, by its policy."""
        stuck: list[str] = []
        for logical_id in reversed(self._order()):
            deployed = self._stack.deployed[logical_id]
            try:
                if deployed.declared.deletion_policy in RETAINING:
                    steps.retain(self._stack, deployed)
                else:
                    steps.delete(self._stack, deployed)
            except StepFailedError:
                stuck.append(logical_id)
            else:
                del self._stack.deployed[logical_id]
        for deployed in self._stack.rollback.unlisted if self._stack.rollback else ():
            with suppress(StepFailedError):
                steps.let_go(self._stack, deployed)
        if stuck:
            self._stack.enter(
                "DELETE_FAILED", f"The following resource(s) failed to delete: [{', '.join(stuck)}]. "
            )
            return
        with turn():
            self._stack.enter("DELETE_COMPLETE")
            self._stack.withdraw_exports()
            self._forget(self._stack)

    def _order(self) -> list[str]:
        order = in_dependency_order(self._stack.template_dict.get("Resources", {}))
        known = [logical_id for logical_id in order if logical_id in self._stack.deployed]
        # A stack that could not roll back holds resources that its template does not know.
        return known + [logical_id for logical_id in self._stack.deployed if logical_id not in known]
