"""All checks in order; one that fails or is denied does not stop the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from triton_fleet.aws.preflight.network import network
from triton_fleet.aws.preflight.quotas import functions, quotas
from triton_fleet.aws.preflight.stacks import alarms, bootstrap, foundation, scaling, stack_finding
from triton_fleet.aws.preflight.subject import MAX_PARALLEL_REQUESTS, CheckResult, Subject
from triton_fleet.awsapi.describe import UNDER_WAY, described_endpoint
from triton_fleet.awsapi.errors import DENIAL_CODES, NO_BUCKET, aws_errors_as_findings
from triton_fleet.awsapi.images.pinned_release import pinned_release_findings
from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.awsapi.images.repository_policy import RolePull, role_pull
from triton_fleet.awsapi.stack import EMPTY_STATES, find_stack
from triton_fleet.catalog.images import Image
from triton_fleet.context.own_image import NOT_BUILT
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.source import moved_to
from triton_fleet.store.archive_requirements import ArchiveRequirement, missing_in_endpoints

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_sagemaker.client import SageMakerClient

MAX_ARCHIVE_NAMES = 3
"""How many missing archives are named; an endpoint may have thousands."""


def artifacts(subject: Subject) -> Iterator[CheckResult]:
    """The archives of each endpoint; missing ones only warn, as a deploy publishes them."""
    s3, deployment = subject.access.client("s3"), subject.deployment
    for endpoint in subject.endpoints:
        title, count = f"artifacts {endpoint.name}", len(endpoint.archives)
        try:
            requirements, conflicts = missing_in_endpoints(s3, deployment.bucket, [endpoint])
        except ClientError as error:
            if error.response["Error"]["Code"] != NO_BUCKET:
                raise
            text = f"none of {count}: the bucket {deployment.bucket} does not exist yet"
            finding = _missing_finding(
                subject, endpoint, f"the bucket {deployment.bucket} does not exist yet"
            )
            yield CheckResult(title=title, text=text, findings=(finding,))
            continue
        mark = subject.specs[endpoint.name].source.mark(("models",))
        findings = [moved_to(mark, conflict) for conflict in conflicts]
        if requirements:
            text = f"{len(requirements)} of {count} not published: {_names_of(requirements)}"
            findings.append(_missing_finding(subject, endpoint, text))
        summary = f"{count - len(requirements) - len(conflicts)} of {count} in {endpoint.model_data_url}"
        yield CheckResult(title=title, text=summary, findings=tuple(findings))


def _missing_finding(subject: Subject, endpoint: ResolvedEndpoint, reason: str) -> Finding:
    name, environment = endpoint.name, subject.deployment.environment
    message = f"the Model of {name} cannot load its archives yet: {reason}"
    hint = (
        f"`fleet deploy` and `fleet publish --env {environment} {name}` publish them;"
        " `cdk deploy` alone would fail"
    )
    return subject.of_spec(name, ("models",), "FL629", message, hint, warns=True)


def _names_of(requirements: list[ArchiveRequirement]) -> str:
    names = [requirement.artifact.archive for requirement in requirements[:MAX_ARCHIVE_NAMES]]
    more = len(requirements) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def images(subject: Subject) -> Iterator[CheckResult]:
    """Each image once: whether this account can read its manifest, with which a pull begins.

    The caller's credentials are used. An endpoint's stack grants its role the same; what the repository of
    another account grants, its policy shows where it can be read.
    """
    ecr = subject.access.client("ecr")
    by_uri: dict[str, tuple[Image, list[str]]] = {}
    readable_names = set(subject.specs)
    limits = subject.image_limits() if subject.access.is_local_fleet else {}
    for endpoint in subject.endpoints:
        by_uri.setdefault(endpoint.image.uri, (endpoint.image, []))[1].append(endpoint.name)
    for uri, (image, names) in by_uri.items():
        if limit_findings := tuple(limits[name] for name in names if name in limits):
            yield CheckResult(
                title="image", text=f"{uri}: not served on this machine", findings=limit_findings
            )
            continue
        manifest, refusal = requested_image(ecr, image_reference(uri))
        if manifest is not None:
            digest = manifest["imageId"]["imageDigest"]
            # The local registry's digests are stand-ins and do not belong in a spec.
            is_digest_shown = image.digest is None and subject.deployment.environment != LOCAL
            text = f"{uri} exists" + (f", {digest}" if is_digest_shown else "")
            if image.is_own and image.account != subject.deployment.account:
                yield _foreign_image(subject, uri, names, text)
            else:
                yield CheckResult(title="image", text=text)
            continue
        if image.is_own and image.digest is None and image.tag != NOT_BUILT:
            yield CheckResult(title="image", text=f"{uri} is not built yet: the deploy builds it")
            continue
        message = f"{uri} cannot be pulled: {refusal}"
        key = "image" if image.is_own else "triton" if image.digest is None else "image_digest"
        hint = f"write a release for `triton` that has an image in {subject.deployment.region}"
        if image.is_own:
            build = f"fleet images build --env {subject.deployment.environment} {' '.join(names)}"
            hint = f"build it: `{build}`; or write the digest of an image that exists"
        elif image.digest is not None:
            hint = f"remove `image_digest`: preflight then shows the digest of {image.name.partition('@')[0]}"
        findings = [subject.of_spec(name, (key,), "FL628", message, hint) for name in names]
        readable_names.difference_update(names)
        yield CheckResult(title="image", text=f"{uri}: {refusal}", findings=tuple(findings))
    specs = [loaded_spec for name, loaded_spec in subject.specs.items() if name in readable_names]
    if doubts := pinned_release_findings(lambda: ecr, subject.project.environment, specs):
        text = "a digest in `image_digest` is not shown to be of its release"
        yield CheckResult(title="image", text=text, findings=tuple(doubts))


def _foreign_image(subject: Subject, uri: str, names: list[str], text: str) -> CheckResult:
    """Whether the endpoint's role may pull an image of another account, as its repository's policy shows."""
    account = subject.deployment.account
    pull = role_pull(subject.access.client("ecr"), image_reference(uri), account)
    findings = []
    if pull is not RolePull.YES:
        message = f"{uri}: {pull}"
        hint = f"allow `arn:aws:iam::{account}:root` to pull images in the policy of the repository"
        warns = pull is not RolePull.NO
        findings = [subject.of_spec(name, ("image",), "FL628", message, hint, warns=warns) for name in names]
    return CheckResult(title="image", text=f"{text}; {pull}", findings=tuple(findings))


IN_SERVICE = "InService"
WAIT = "SageMaker refuses updates until it has finished; `fleet deploy` waits for it"
WAIT_FOR_DELETION = "wait until it is deleted, then deploy it"
DELETE_FIRST = "it can only be deleted: `fleet destroy {name} --env {environment}`, then deploy it"
HINTS = {
    "Deleting": WAIT_FOR_DELETION,
    "Failed": DELETE_FIRST,
    "OutOfService": "find the reason in its log, and bring it back into service before an update",
    "UpdateRollbackFailed": "old and new instances serve side by side: see its FailureReason and the"
    " developer guide's page on rolling deployments",
}
"""By status; all other statuses mean an operation in progress. Source: botocore, DescribeEndpoint."""


def endpoints(subject: Subject) -> Iterator[CheckResult]:
    """The state of each endpoint and of its stack."""
    sagemaker, cloudformation = subject.access.client("sagemaker"), subject.access.client("cloudformation")
    yield from all_in_parallel(
        subject.endpoints,
        lambda endpoint: _endpoint(subject, sagemaker, cloudformation, endpoint),
        MAX_PARALLEL_REQUESTS,
    )


def _endpoint(
    subject: Subject,
    sagemaker: SageMakerClient,
    cloudformation: CloudFormationClient,
    endpoint: ResolvedEndpoint,
) -> CheckResult:
    name, title = endpoint.name, f"endpoint {endpoint.name}"
    stack, status = find_stack(cloudformation, endpoint.stack), _status(sagemaker, name)
    not_ready = stack_finding(subject, stack, name) if stack is not None else None
    if stack is not None and not_ready is not None:
        return CheckResult(title=title, text=f"{endpoint.stack} is in {stack.status}", findings=(not_ready,))
    if status is None:
        return CheckResult(title=title, text="not deployed yet")
    if stack is None or stack.state in EMPTY_STATES:
        message = f"the account has an endpoint {name!r} that does not belong to the stack {endpoint.stack}"
        hint = "rename the endpoint in its spec, or delete the one in the account"
        finding = subject.of_spec(name, ("endpoint",), "FL632", message, hint)
        return CheckResult(title=title, text="the name is taken", findings=(finding,))
    if status == IN_SERVICE:
        return CheckResult(title=title, text=status)
    hint = HINTS.get(status, WAIT).format(name=name, environment=subject.deployment.environment)
    message = f"the endpoint {name!r} is {status}"
    finding = subject.of_spec(name, ("endpoint",), "FL631", message, hint, warns=status in UNDER_WAY)
    return CheckResult(title=title, text=status, findings=(finding,))


def _status(sagemaker: SageMakerClient, name: str) -> str | None:
    description = described_endpoint(sagemaker, name)
    return None if description is None else description["EndpointStatus"]


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
    Check(name="endpoints", look=endpoints, actions=(*STACK, "sagemaker:DescribeEndpoint")),
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
        if isinstance(cause, ClientError) and cause.response["Error"]["Code"] in DENIAL_CODES:
            yield _permission_result(check, cause)
        else:
            yield CheckResult(title=check.name, text="not checked: AWS could not be called", problem=error)


def _permission_result(check: Check, refusal: ClientError) -> CheckResult:
    match = ACTION.search(refusal.response["Error"].get("Message", ""))
    actions = match[1] if match else " and ".join(check.actions)
    message = f"{check.name}: not checked, as these credentials may not call {refusal.operation_name}"
    hint = f"allow {actions}, which is read-only; `fleet docs preflight` lists all permissions"
    finding = Finding(code="FL620", message=message, hint=hint, severity=Severity.WARNING)
    return CheckResult(
        title=check.name, text=f"not checked: no permission for {actions}", findings=(finding,)
    )


def account(subject: Subject) -> CheckResult:
    """The account of the credentials.

    Raises:
        CannotRunError: there are no credentials, or AWS does not answer; then nothing else can be checked.
    """
    deployment, title = subject.deployment, "account"
    try:
        caller = subject.access.check_account()
    except FindingsError as error:
        mark = subject.project.environment_source.mark(("account",))
        findings = [moved_to(mark, finding) for finding in error.findings]
        text = f"not {deployment.account}, so nothing else is checked"
        return CheckResult(title=title, text=text, findings=tuple(findings))
    return CheckResult(title=title, text=f"{deployment.account}, {deployment.region}, as {caller}")
