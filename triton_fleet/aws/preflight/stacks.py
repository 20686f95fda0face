"""Whether stacks can be deployed to in their current state."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.bootstrap import TOOLKIT, bootstrap_version
from triton_fleet.aws.deploy.failed_rollback import failed_rollback
from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.awsapi.errors import DENIED
from triton_fleet.awsapi.stack import NOTHING_OF_IT, LiveStack, find_stack
from triton_fleet.catalog.cloudformation import StackState, needed_bootstrap
from triton_fleet.findings import Finding

UNSEEN = (
    "`fleet deploy` continues its rollback if the endpoint runs its previous configuration; these credentials"
    " cannot read what it runs ({operation} is denied)"
)
AT_WORK = "wait until the operation has ended; a deploy also waits"


def bootstrap(subject: Subject) -> Iterator[CheckResult]:
    """Whether the account has the CDK bootstrap; only a warning, as a deploy creates it if allowed to."""
    needed, deployment = needed_bootstrap(), subject.deployment
    stack = find_stack(subject.access.client("cloudformation"), TOOLKIT)
    if stack is not None and (found := stack_state_finding(subject.access, stack, subject.of_environment)):
        yield CheckResult(what="bootstrap", text=f"{TOOLKIT} is in {stack.status}", findings=(found,))
        return
    version = bootstrap_version(subject.access, needed.parameter)
    if stack is not None and stack.state is not StackState.READY:
        state = f"{TOOLKIT} is in {stack.status}"
    elif version >= needed.version:
        yield CheckResult(what="bootstrap", text=f"version {version}; the templates need {needed.version}")
        return
    else:
        state = f"version {version}" if version else "none"
    text = f"{state}; the templates need version {needed.version}"
    message = f"the CDK's bootstrap of {deployment.account} in {deployment.region}: {text}"
    hint = (
        "`fleet deploy` creates it with an administrator's permissions; or let an administrator run"
        f" `npx cdk bootstrap aws://{deployment.account}/{deployment.region}`"
    )
    finding = subject.of_environment("FL621", message, hint, warns=True)
    yield CheckResult(what="bootstrap", text=text, findings=(finding,))


def foundation(subject: Subject) -> Iterator[CheckResult]:
    """Whether Foundation exists; only a warning, as a deploy creates it."""
    name, environment = subject.deployment.stack, subject.deployment.environment
    stack = find_stack(subject.access.client("cloudformation"), name)
    if stack is None or stack.state in NOTHING_OF_IT:
        state = f" (its stack is in {stack.status})" if stack is not None else ""
        text = f"{name} is not deployed{state}"
        hint = f"`fleet deploy --env {environment}` creates it first; `cdk deploy` of an endpoint would fail"
        finding = subject.of_environment("FL623", text, hint, warns=True)
        yield CheckResult(what="foundation", text=text, findings=(finding,))
        return
    not_ready = stack_state_finding(subject.access, stack, subject.of_environment)
    findings = (not_ready,) if not_ready else ()
    yield CheckResult(what="foundation", text=f"{name} is in {stack.status}", findings=findings)


def stack_finding(subject: Subject, stack: LiveStack, endpoint: str) -> Finding | None:
    """The finding for the stack of an endpoint; None if it can be deployed to."""

    def of_spec(code: str, message: str, hint: str, *, warns: bool = False) -> Finding:
        return subject.of_spec(endpoint, ("endpoint",), code, message, hint, warns=warns)

    return stack_state_finding(subject.access, stack, of_spec)


def stack_state_finding(access: Access, stack: LiveStack, finding: Callable[..., Finding]) -> Finding | None:
    """The finding for a stack's state, from `finding(code, message, hint)`; None if it is good."""
    if stack.state is StackState.STOPPED:
        try:
            failed = failed_rollback(access, stack)
        except ClientError as error:
            if error.response["Error"]["Code"] not in DENIED:
                raise
            return finding("FL622", str(stack), UNSEEN.format(operation=error.operation_name))
        return finding("FL622", str(failed), failed.remedy)
    if stack.state is StackState.STUCK:
        return finding("FL622", str(stack), stack.remedy)
    if stack.state is StackState.UNDER_WAY:
        return finding(
            "FL624", str(stack), f"{AT_WORK}{'; ' if stack.remedy else ''}{stack.remedy}", warns=True
        )
    return None
