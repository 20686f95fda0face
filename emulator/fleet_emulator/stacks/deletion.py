"""The deletion of a stack: its resources in reverse, then the stack itself."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

from fleet_emulator.stacks import steps
from fleet_emulator.stacks.stack import EmbeddedStack
from fleet_emulator.stacks.steps import StepFailedError
from fleet_emulator.stacks.template import in_dependency_order
from fleet_emulator.state_lock import turn
from fleet_emulator.types.resource import RETAINING

log = logging.getLogger("fleet_emulator")


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
