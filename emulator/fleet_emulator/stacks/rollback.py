"""What takes a stack's run back, as CloudFormation does it: first what was changed, then what is new."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

from fleet_emulator.stacks import steps
from fleet_emulator.stacks.stack import EmbeddedStack
from fleet_emulator.stacks.steps import Change, Step, StepFailedError
from fleet_emulator.types.resource import DeployedResource


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
