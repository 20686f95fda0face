"""Checks of the stacks' states, of their alarms, and of their registered variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.failed_rollback import failed_rollback
from triton_fleet.aws.deploy.stack_repair import TOOLKIT, bootstrap_version
from triton_fleet.aws.preflight.subject import MAX_PARALLEL_REQUESTS, CheckResult, Subject
from triton_fleet.awsapi.describe import OF_VARIANTS, scalable_id
from triton_fleet.awsapi.errors import DENIAL_CODES
from triton_fleet.awsapi.stack import EMPTY_STATES, LiveStack, find_stack, stack_resources
from triton_fleet.catalog.cloudformation import StackState, needed_bootstrap
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint
from triton_fleet.findings import Finding

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudwatch.client import CloudWatchClient
    from mypy_boto3_cloudwatch.type_defs import MetricAlarmTypeDef

UNSEEN = (
    "`fleet deploy` continues its rollback if the endpoint runs its previous configuration; these credentials"
    " cannot read what it runs ({operation} is denied)"
)
AT_WORK = "wait until the operation has ended; a deploy also waits"


def bootstrap(subject: Subject) -> Iterator[CheckResult]:
    """Whether the account has the CDK bootstrap; only a warning, as a deploy creates it if allowed to."""
    requirement, deployment = needed_bootstrap(), subject.deployment
    stack = find_stack(subject.access.client("cloudformation"), TOOLKIT)
    if stack is not None and (
        state_finding := stack_state_finding(subject.access, stack, subject.of_environment)
    ):
        yield CheckResult(
            title="bootstrap", text=f"{TOOLKIT} is in {stack.status}", findings=(state_finding,)
        )
        return
    version = bootstrap_version(subject.access, requirement.parameter)
    if stack is not None and stack.state is not StackState.READY:
        state = f"{TOOLKIT} is in {stack.status}"
    elif version >= requirement.version:
        yield CheckResult(
            title="bootstrap", text=f"version {version}; the templates need {requirement.version}"
        )
        return
    else:
        state = f"version {version}" if version else "none"
    text = f"{state}; the templates need version {requirement.version}"
    message = f"the CDK's bootstrap of {deployment.account} in {deployment.region}: {text}"
    hint = (
        "`fleet deploy` creates it with an administrator's permissions; or let an administrator run"
        f" `npx cdk bootstrap aws://{deployment.account}/{deployment.region}`"
    )
    finding = subject.of_environment("FL621", message, hint, warns=True)
    yield CheckResult(title="bootstrap", text=text, findings=(finding,))


def foundation(subject: Subject) -> Iterator[CheckResult]:
    """Whether Foundation exists; only a warning, as a deploy creates it."""
    name, environment = subject.deployment.stack, subject.deployment.environment
    stack = find_stack(subject.access.client("cloudformation"), name)
    if stack is None or stack.state in EMPTY_STATES:
        state = f" (its stack is in {stack.status})" if stack is not None else ""
        text = f"{name} is not deployed{state}"
        hint = f"`fleet deploy --env {environment}` creates it first; `cdk deploy` of an endpoint would fail"
        finding = subject.of_environment("FL623", text, hint, warns=True)
        yield CheckResult(title="foundation", text=text, findings=(finding,))
        return
    not_ready = stack_state_finding(subject.access, stack, subject.of_environment)
    findings = (not_ready,) if not_ready else ()
    yield CheckResult(title="foundation", text=f"{name} is in {stack.status}", findings=findings)


def stack_finding(subject: Subject, stack: LiveStack, endpoint: str) -> Finding | None:
    """The finding for the stack of an endpoint; None if it can be deployed to."""

    def of_spec(code: str, message: str, hint: str, *, warns: bool = False) -> Finding:
        return subject.of_spec(endpoint, ("endpoint",), code, message, hint, warns=warns)

    return stack_state_finding(subject.access, stack, of_spec)


def stack_state_finding(access: Access, stack: LiveStack, finding: Callable[..., Finding]) -> Finding | None:
    """The finding for a stack's state, from `finding(code, message, hint)`; None if it is good."""
    if stack.state is StackState.STOPPED:
        try:
            rollback = failed_rollback(access, stack)
        except ClientError as error:
            if error.response["Error"]["Code"] not in DENIAL_CODES:
                raise
            return finding("FL622", str(stack), UNSEEN.format(operation=error.operation_name))
        return finding("FL622", str(rollback), rollback.remedy)
    if stack.state is StackState.STUCK:
        return finding("FL622", str(stack), stack.remedy)
    if stack.state is StackState.UNDER_WAY:
        return finding(
            "FL624", str(stack), f"{AT_WORK}{'; ' if stack.remedy else ''}{stack.remedy}", warns=True
        )
    return None


ALARM = "AWS::CloudWatch::Alarm"
OF_ONE_CONFIGURATION = "EndpointConfigName"
"""The dimension that only rollback alarms have."""
NAMES = 100
"""The most names in a DescribeAlarms call; source: botocore, AlarmNames."""
ROLLED_BACK = (
    "a new configuration has its own alarms: this one does not roll back a deploy that fixes the cause"
)
LOOK = "see `fleet docs runbook`, unless this deploy is the fix"


def alarms(subject: Subject) -> Iterator[CheckResult]:
    """The alarms of each endpoint's stack that are firing; only warnings.

    Alarms that roll back an update are of one configuration each, so that the errors of the running one do
    not stop the deploy that fixes them (docs/decisions/0013); nor should an operator's alarm.
    """
    cloudformation, cloudwatch = subject.access.client("cloudformation"), subject.access.client("cloudwatch")
    looks = all_in_parallel(
        subject.endpoints,
        lambda resolved_endpoint: _firing_alarms(cloudformation, cloudwatch, resolved_endpoint),
        MAX_PARALLEL_REQUESTS,
    )
    for endpoint, firing_alarms in zip(subject.endpoints, looks, strict=True):
        title = f"alarms {endpoint.name}"
        if firing_alarms is None:
            yield CheckResult(title=title, text="none yet: its stack is not deployed")
            continue
        names = ", ".join(alarm["AlarmName"] for alarm in firing_alarms)
        findings = tuple(_alarm_finding(subject, endpoint.name, alarm) for alarm in firing_alarms)
        yield CheckResult(
            title=title, text=f"in ALARM: {names}" if names else "none in ALARM", findings=findings
        )


def _firing_alarms(
    cloudformation: CloudFormationClient, cloudwatch: CloudWatchClient, endpoint: ResolvedEndpoint
) -> list[MetricAlarmTypeDef] | None:
    stack = find_stack(cloudformation, endpoint.stack)
    if stack is None:
        return None
    names = [
        stack_resource["PhysicalResourceId"]
        for stack_resource in stack_resources(cloudformation, stack, ALARM)
    ]
    all_alarms = [
        alarm
        for start in range(0, len(names), NAMES)
        for alarm in cloudwatch.describe_alarms(AlarmNames=names[start : start + NAMES])["MetricAlarms"]
    ]
    return [alarm for alarm in all_alarms if alarm["StateValue"] == "ALARM"]


def _alarm_finding(subject: Subject, endpoint: str, alarm: MetricAlarmTypeDef) -> Finding:
    dimensions = {dimension["Name"] for dimension in alarm.get("Dimensions", ())}
    of_rollout = OF_ONE_CONFIGURATION in dimensions
    description = alarm.get("AlarmDescription", "")
    message = f"{alarm['AlarmName']} is in ALARM" + (f": {description}" if description else "")
    key, hint = ("rollout", ROLLED_BACK) if of_rollout else ("alarms", LOOK)
    return subject.of_spec(endpoint, (key,), "FL630", message, hint, warns=True)


SCALABLE_TARGET = "AWS::ApplicationAutoScaling::ScalableTarget"
DEREGISTER = (
    "run `aws application-autoscaling deregister-scalable-target --region {region} --service-namespace"
    " {namespace} --scalable-dimension {dimension} --resource-id {id}` and deploy at once: it deletes its"
    " policies and scheduled actions, so that the endpoint keeps its number of instances until the stack has"
    " registered it; or remove `scaling` from the spec"
)


def scaling(subject: Subject) -> Iterator[CheckResult]:
    """Whether somebody else has registered the variant of a scaled endpoint."""
    endpoints = [endpoint for endpoint in subject.endpoints if endpoint.scaling is not None]
    if endpoints:
        cloudformation = subject.access.client("cloudformation")
        autoscaling = subject.access.client("application-autoscaling")
        yield from all_in_parallel(
            endpoints,
            lambda endpoint: _scaling(subject, cloudformation, autoscaling, endpoint),
            MAX_PARALLEL_REQUESTS,
        )


def _scaling(
    subject: Subject, cloudformation: Any, autoscaling: Any, endpoint: ResolvedEndpoint
) -> CheckResult:
    title, id = f"scaling {endpoint.name}", scalable_id(endpoint.name, VARIANT)
    stack = find_stack(cloudformation, endpoint.stack)
    if stack is None or stack.state in EMPTY_STATES:
        return CheckResult(title=title, text="none yet: its stack is not deployed")
    if stack_resources(cloudformation, stack, SCALABLE_TARGET):
        return CheckResult(title=title, text="registered by its stack")
    answer = autoscaling.describe_scalable_targets(**OF_VARIANTS, ResourceIds=[id])
    if not answer["ScalableTargets"]:
        return CheckResult(title=title, text="not registered yet")
    (target,) = answer["ScalableTargets"]
    message = (
        f"the variant {VARIANT} of {endpoint.name} is registered with Application Auto Scaling for"
        f" {target['MinCapacity']} to {target['MaxCapacity']} instances, and not by the stack"
        f" {endpoint.stack}, whose registration would be refused"
    )
    namespace, dimension = OF_VARIANTS["ServiceNamespace"], OF_VARIANTS["ScalableDimension"]
    hint = DEREGISTER.format(
        region=subject.deployment.region, namespace=namespace, dimension=dimension, id=id
    )
    finding = subject.of_spec(endpoint.name, ("scaling",), "FL639", message, hint)
    return CheckResult(
        title=title, text=f"{VARIANT} is registered, and not by its stack", findings=(finding,)
    )
