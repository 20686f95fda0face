"""Prepares stacks that an interrupted or failed deploy left behind for the next deploy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.endpoint_wait import await_endpoint
from triton_fleet.aws.deploy.failed_rollback import FailedRollback, continue_rollback, failed_rollback
from triton_fleet.awsapi.describe import STATUSES_IN_PROGRESS
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.stack import LiveStack, find_stack, settled_stack
from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.findings import CannotRunError, Finding, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient

Consent: TypeAlias = Callable[[str], bool]
"""Asks a question and returns whether the answer is yes; False if it cannot ask."""

Notice: TypeAlias = Callable[[str], None]
"""Shows a line while a step is running."""


@dataclass(frozen=True)
class ReadyStack:
    """A stack that can be deployed to; None if it must be created.

    `continuation` is the result of continuing its stopped rollback, as a sentence; empty without one.
    """

    stack: LiveStack | None
    continuation: str = ""


def ready_stack(access: Access, name: str, consent: Consent, notice: Notice = lambda _: None) -> ReadyStack:
    """Wait for operations in progress, and return a stack that can be deployed to.

    The CDK deletes a stack whose creation failed, which needs its protection removed. A stopped rollback
    is continued after consent. `notice` is called with what is waited for.

    Raises:
        CannotRunError: the stack is stuck.
    """
    cloudformation = access.client("cloudformation")
    stack, continuation = stack_after_operation(cloudformation, name, notice), ""
    if stack is not None and stack.state is StackState.STOPPED:
        stopped = _settled_rollback(access, stack, notice)
        if not agreed_to_continue(stopped, consent):
            raise CannotRunError(str(stopped), stopped.remedy)
        stack, continuation = continue_rollback(access, stopped), stopped.success
    if stack is None:
        return ReadyStack(None)
    if stack.state is StackState.STUCK:
        raise CannotRunError(str(stack), stack.remedy)
    if stack.state is StackState.NOT_CREATED and stack.protected:
        cloudformation.update_termination_protection(StackName=name, EnableTerminationProtection=False)
    return ReadyStack(stack, continuation)


def stack_after_operation(
    cloudformation: CloudFormationClient, name: str, notice: Notice
) -> LiveStack | None:
    """A stack when no operation on it is in progress; None if it does not exist then."""
    stack = find_stack(cloudformation, name)
    if stack is None or stack.state is not StackState.UNDER_WAY:
        return stack
    notice(f"{stack}: waiting until the operation has ended{'; ' if stack.remedy else ''}{stack.remedy}")
    return settled_stack(cloudformation, stack)


def agreed_to_continue(stopped: FailedRollback, consent: Consent) -> bool:
    """Whether to continue a rollback; asks only if something may be skipped."""
    if not stopped.skipped:
        return False
    return consent(f"{stopped}.\nContinue its rollback without {' '.join(stopped.skipped)}?")


def _settled_rollback(access: Access, stack: LiveStack, notice: Notice) -> FailedRollback:
    """Where a rollback stopped, when SageMaker has finished with its endpoint: what runs decides the rest."""
    stopped = failed_rollback(access, stack)
    if stopped.endpoint is None or stopped.endpoint.status not in STATUSES_IN_PROGRESS:
        return stopped
    await_endpoint(access, stopped.endpoint.name, notice)
    return failed_rollback(access, stack)


def with_failed_rollback(
    failure: FindingsError | CannotRunError,
    access: Access,
    name: str,
    consent: Consent,
    notice: Notice = lambda _: None,
) -> FindingsError | CannotRunError:
    """The failure of a deploy; if the rollback of its stack also failed, with what to do about that.

    After consent the rollback is continued; what failed is not deployed again. The deploy's failure is
    reported in any case.
    """
    try:
        with aws_errors_as_findings():
            stack = find_stack(access.client("cloudformation"), name)
            if stack is None or stack.state is not StackState.STOPPED:
                return failure
            failed = _settled_rollback(access, stack, notice)
            continued = agreed_to_continue(failed, consent)
            if continued:
                continue_rollback(access, failed)
            found = failed.finding(continued=continued)
    except CannotRunError as error:
        found = Finding(code="FL607", message=error.problem, hint=error.remedy)
    if isinstance(failure, CannotRunError):
        return CannotRunError(f"{failure.problem}\n{found.message}", f"{failure.remedy}; {found.hint}")
    return FindingsError([*failure.findings, found])
