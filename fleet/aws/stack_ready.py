"""Stacks that an interrupted or failed deploy left behind, made ready for the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fleet.aws.access import Access
from fleet.aws.failed_rollback import STOPPED, FailedRollback, continue_rollback, failed_rollback
from fleet.aws.stack import NOT_CREATED, LiveStack, find_stack, settled
from fleet.findings import CannotRunError

DELETE_FAILED = "DELETE_FAILED"
UNDELETED = "see why in its events, delete it, then run the deploy again"
"""What to do with a stack in DELETE_FAILED."""
Consent: TypeAlias = Callable[[str], bool]
"""Asks a question, and says whether the answer is yes; it is no where nobody can be asked."""


def ready_stack(access: Access, name: str, consent: Consent) -> LiveStack | None:
    """A stack that can be deployed to, when what is under way is over; None where it has to be created.

    A stack whose creation failed is deleted by the CDK CLI, which cannot do so if it is protected. A rollback
    that has stopped is continued, if that is agreed to.

    Raises:
        CannotRunError: it is stuck.
    """
    cloudformation = access.client("cloudformation")
    stack = find_stack(cloudformation, name)
    if stack is not None:
        stack = settled(cloudformation, stack)
    if stack is not None and stack.status == STOPPED:
        stopped = failed_rollback(access, stack)
        if not agreed_to_continue(stopped, consent):
            raise CannotRunError(str(stopped), stopped.remedy)
        stack = continue_rollback(access, stopped)
    if stack is None:
        return None
    if stack.status == DELETE_FAILED:
        because = f" ({stack.reason})" if stack.reason else ""
        raise CannotRunError(f"the stack {name} is in {stack.status}{because}", UNDELETED)
    if stack.status in NOT_CREATED and stack.protected:
        cloudformation.update_termination_protection(StackName=name, EnableTerminationProtection=False)
    return stack


def agreed_to_continue(stopped: FailedRollback, consent: Consent) -> bool:
    """Whether a rollback is to be continued; nobody is asked where nothing may be skipped."""
    if not stopped.skipped:
        return False
    return consent(f"{stopped}.\nContinue its rollback without {' '.join(stopped.skipped)}?")
