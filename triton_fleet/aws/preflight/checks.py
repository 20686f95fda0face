"""All checks in order; one that fails or is denied does not stop the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from botocore.exceptions import ClientError

from triton_fleet.aws.preflight.alarms import alarms
from triton_fleet.aws.preflight.artifacts import artifacts
from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.endpoints import endpoints
from triton_fleet.aws.preflight.functions import functions
from triton_fleet.aws.preflight.images import images
from triton_fleet.aws.preflight.network import network
from triton_fleet.aws.preflight.quotas import quotas
from triton_fleet.aws.preflight.scaling import scaling
from triton_fleet.aws.preflight.stacks import bootstrap, foundation
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.awsapi.errors import DENIED, aws_errors_as_findings
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity
from triton_fleet.spec.source import moved_to

ACTION = re.compile(r"not authorized to perform: ([a-zA-Z0-9-]+:[a-zA-Z]+)")


@dataclass(frozen=True, kw_only=True)
class Check:
    """One check of the account, and the IAM actions that it needs."""

    name: str
    look: Callable[[Subject], Iterator[CheckResult]]
    actions: tuple[str, ...]


STACK = (
    "cloudformation:DescribeStackEvents",
    "cloudformation:DescribeStackResources",
    "cloudformation:DescribeStacks",
)
"""The actions for a stack; the first two are needed only if its rollback has failed."""
CHECKS = (
    Check(name="bootstrap", look=bootstrap, actions=(*STACK, "ssm:GetParameter")),
    Check(name="foundation", look=foundation, actions=STACK),
    Check(
        name="quota",
        look=quotas,
        actions=(
            "sagemaker:DescribeEndpoint",
            "sagemaker:DescribeEndpointConfig",
            "sagemaker:ListEndpoints",
            "servicequotas:ListServiceQuotas",
        ),
    ),
    Check(name="functions", look=functions, actions=("lambda:GetAccountSettings",)),
    Check(name="image", look=images, actions=("ecr:BatchGetImage",)),
    Check(
        name="network",
        look=network,
        actions=(
            "ec2:DescribeRouteTables",
            "ec2:DescribeSubnets",
            "ec2:DescribeVpcAttribute",
            "ec2:DescribeVpcEndpoints",
        ),
    ),
    Check(name="artifacts", look=artifacts, actions=("s3:GetObject", "s3:ListBucket")),
    Check(
        name="endpoints",
        look=endpoints,
        actions=(*STACK, "sagemaker:DescribeEndpoint"),
    ),
    Check(
        name="scaling",
        look=scaling,
        actions=(
            "application-autoscaling:DescribeScalableTargets",
            "cloudformation:DescribeStacks",
            "cloudformation:ListStackResources",
        ),
    ),
    Check(
        name="alarms",
        look=alarms,
        actions=(
            "cloudformation:DescribeStacks",
            "cloudformation:ListStackResources",
            "cloudwatch:DescribeAlarms",
        ),
    ),
)


def preflight(subject: Subject) -> Iterator[CheckResult]:
    """Run all checks and yield each result; with credentials of another account, nothing else is checked.

    Raises:
        CannotRunError: there are no credentials, or AWS does not answer at all.
    """
    whose = account(subject)
    yield whose
    if not whose.findings:
        for check in CHECKS:
            yield from _run_check(check, subject)


def _run_check(check: Check, subject: Subject) -> Iterator[CheckResult]:
    try:
        with aws_errors_as_findings():
            yield from check.look(subject)
    except CannotRunError as error:
        cause = error.__cause__
        if isinstance(cause, ClientError) and cause.response["Error"]["Code"] in DENIED:
            yield _permission_result(check, cause)
        else:
            yield CheckResult(what=check.name, text="not checked: AWS could not be called", problem=error)


def _permission_result(check: Check, refused: ClientError) -> CheckResult:
    found = ACTION.search(refused.response["Error"].get("Message", ""))
    needed = found[1] if found else " and ".join(check.actions)
    message = f"{check.name}: not checked, as these credentials may not call {refused.operation_name}"
    hint = f"allow {needed}, which is read-only; docs/preflight.md lists all permissions"
    finding = Finding(code="FL620", message=message, hint=hint, severity=Severity.WARNING)
    return CheckResult(what=check.name, text=f"not checked: no permission for {needed}", findings=(finding,))


def account(subject: Subject) -> CheckResult:
    """The account of the credentials.

    Raises:
        CannotRunError: there are no credentials, or AWS does not answer; then nothing else can be checked.
    """
    deployment, what = subject.deployment, "account"
    try:
        caller = subject.access.check_account()
    except FindingsError as error:
        mark = subject.project.environment_source.mark(("account",))
        findings = [moved_to(mark, finding) for finding in error.findings]
        text = f"not {deployment.account}, so nothing else is checked"
        return CheckResult(what=what, text=text, findings=tuple(findings))
    return CheckResult(what=what, text=f"{deployment.account}, {deployment.region}, as {caller}")
