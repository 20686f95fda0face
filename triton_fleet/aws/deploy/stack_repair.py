"""Prepares stacks for a deploy, and finds whether one would change anything."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.endpoint_wait import await_endpoint
from triton_fleet.aws.deploy.failed_rollback import FailedRollback, continue_rollback, failed_rollback
from triton_fleet.awsapi.describe import STATUSES_IN_PROGRESS
from triton_fleet.awsapi.errors import SuppressErrors, aws_errors_as_findings
from triton_fleet.awsapi.stack import LiveStack, find_stack, settled_stack
from triton_fleet.catalog.cloudformation import StackState
from triton_fleet.changes.stack_comparison import (
    SynthesisedStack,
    has_same_settings,
    has_same_template,
    stored_values,
    synthesised_stack,
)
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
        rollback = _settled_rollback(access, stack, notice)
        if not agreed_to_continue(rollback, consent):
            raise CannotRunError(str(rollback), rollback.remedy)
        stack, continuation = continue_rollback(access, rollback), rollback.success
    if stack is None:
        return ReadyStack(None)
    if stack.state is StackState.STUCK:
        raise CannotRunError(str(stack), stack.remedy)
    if stack.state is StackState.NOT_CREATED and stack.is_protected:
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


def agreed_to_continue(rollback: FailedRollback, consent: Consent) -> bool:
    """Whether to continue a rollback; asks only if something may be skipped."""
    if not rollback.resources_to_skip:
        return False
    return consent(f"{rollback}.\nContinue its rollback without {' '.join(rollback.resources_to_skip)}?")


def _settled_rollback(access: Access, stack: LiveStack, notice: Notice) -> FailedRollback:
    """Where a rollback stopped, when SageMaker has finished with its endpoint: what runs decides the rest."""
    rollback = failed_rollback(access, stack)
    if rollback.endpoint is None or rollback.endpoint.status not in STATUSES_IN_PROGRESS:
        return rollback
    await_endpoint(access, rollback.endpoint.name, notice)
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
            rollback = _settled_rollback(access, stack, notice)
            is_continued = agreed_to_continue(rollback, consent)
            if is_continued:
                continue_rollback(access, rollback)
            finding = rollback.finding(is_continued=is_continued)
    except CannotRunError as error:
        finding = Finding(code="FL607", message=error.problem, hint=error.remedy)
    if isinstance(failure, CannotRunError):
        return CannotRunError(f"{failure.problem}\n{finding.message}", f"{failure.remedy}; {finding.hint}")
    return FindingsError([*failure.findings, finding])


TOOLKIT = "CDKToolkit"
"""The default name of the stack of `cdk bootstrap`; an account may use another."""


def must_bootstrap(access: Access, assembly: Path, notice: Notice = lambda _: None) -> bool:
    """Whether the bootstrap is missing, incomplete, or older than a synthesised stack needs.

    The version is in the parameter that each template names. Waits for a bootstrap in progress.

    Raises:
        CannotRunError: the bootstrap's stack is stuck.
    """
    toolkit = ready_stack(access, TOOLKIT, lambda _: False, notice).stack
    if toolkit is not None and toolkit.state is not StackState.READY:
        return True
    return any(
        bootstrap_version(access, name) < minimum for name, minimum in needed_versions(assembly).items()
    )


def needed_versions(assembly: Path) -> dict[str, int]:
    """The bootstrap version that a synthesised assembly's stacks need, by parameter name."""
    artifacts = json.loads((assembly / "manifest.json").read_text())["artifacts"].values()
    versions: dict[str, int] = {}
    for artifact in artifacts:
        properties = artifact.get("properties", {})
        if "bootstrapStackVersionSsmParameter" in properties:
            name = properties["bootstrapStackVersionSsmParameter"]
            versions[name] = max(versions.get(name, 0), properties["requiresBootstrapStackVersion"])
    return versions


def bootstrap_version(access: Access, name: str) -> int:
    """The account's bootstrap version, from a parameter; 0 if the parameter does not exist."""
    with SuppressErrors("ParameterNotFound"):
        return int(access.client("ssm").get_parameter(Name=name)["Parameter"]["Value"])
    return 0


def is_unchanged(access: Access, assembly: Path, name: str) -> bool:
    """Whether a deploy of the stack would change nothing; False wherever that is uncertain.

    Compared are status, template, tags, notifications, protection, and the values of parameters from the
    parameter store. A dynamic reference (`{{resolve:ssm:...}}`) is looked up by CloudFormation only when its
    resource changes, so an equal template has nothing to look up.
    """
    try:
        with aws_errors_as_findings():
            return _is_unchanged(access, synthesised_stack(assembly, name), name)
    except CannotRunError:
        return False


def _is_unchanged(access: Access, own_stack: SynthesisedStack, name: str) -> bool:
    cloudformation = access.client("cloudformation")
    (live_stack,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if not has_same_settings(own_stack, live_stack):
        return False
    body: Any = cloudformation.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    if not has_same_template(own_stack, body):
        return False
    return all(
        access.client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"] == value
        for parameter, value in stored_values(own_stack, live_stack)
    )
