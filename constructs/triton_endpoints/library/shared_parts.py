"""How an endpoint finds what it shares with others, and what the two do for each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Literal, TypeAlias

from aws_cdk import CfnResource, Stack, Stage
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct

from triton_endpoints.endpoint.alarms import AlarmTargets, FoundationTopics
from triton_endpoints.endpoint.check import EndpointCheck
from triton_endpoints.endpoint.logs import EndpointLogs
from triton_endpoints.endpoint.parts import EndpointParts, ServiceTokens
from triton_endpoints.foundation import FoundationParts
from triton_endpoints.lambda_function import STACK_TAG_VALUE, stack_tag
from triton_endpoints.library.alarm_actions import SupportTopics
from triton_endpoints.library.environment import (
    EnvironmentProp,
    EnvironmentSource,
    read_environment,
    reference,
    report,
)
from triton_endpoints.library.values import is_token
from triton_endpoints.scaling_guard import ScalingGuard
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.deployment import Deployment, GivenBucket

_owners: dict[tuple[str, str, str, str], str] = {}
"""The paths of constructs, by app, account, region and what they declare there."""
Functions: TypeAlias = ScalingGuard | EndpointLogs | EndpointCheck


def claim(construct: Construct, subject: str, hint: str) -> None:
    """Let one construct of the app declare something in an account and region.

    Args:
        construct: Who declares it.
        subject: `an endpoint 'search'`, and the like; upper and lower case are one, as they are to SageMaker.
        hint: What to do if another construct declares it.

    Raises:
        FindingsError: another construct declares it.
    """
    stack, node = Stack.of(construct), construct.node
    account, path = stack.account, node.path
    if is_token(account):
        account = stack.node.path  # nobody knows whether two stacks without an account are in one
    owner = _owners.setdefault((reference(node.root), account, stack.region, subject.lower()), path)
    if owner != path:
        message = f"{owner} declares {subject} of this account and region already"
        raise FindingsError([Finding(code="FL613", message=message, hint=hint)])


def claim_builds(construct: Construct, deployment: Deployment, kind: Literal["engine", "image"]) -> None:
    """Let one construct of the app declare the builds of engines or of images of an environment.

    Raises:
        FindingsError: another construct declares them.
    """
    hint = f"leave one out; an EndpointSupport has none with `{kind}_builds=False`"
    claim(construct, f"the {kind} builds of environment {deployment.environment!r}", hint)


def with_bucket(deployment: Deployment, bucket: s3.IBucket | None) -> Deployment:
    """An environment whose artifact bucket is one of the app's, where there is one."""
    if bucket is None:
        return deployment
    key = bucket.encryption_key
    return replace(deployment, given_bucket=GivenBucket(bucket.bucket_name, key.key_arn if key else None))


def calls(
    endpoint: EndpointParts,
    guard: ScalingGuard | None,
    logs: EndpointLogs | None,
    check: EndpointCheck | None,
) -> Iterator[tuple[CfnResource, Functions]]:
    """The custom resources of an endpoint, each with the functions that it calls."""
    if endpoint.guard_before and endpoint.guard_after and guard:
        yield endpoint.guard_before, guard
        yield endpoint.guard_after, guard
    if endpoint.logs and logs:
        yield endpoint.logs, logs
    if endpoint.check and check:
        yield endpoint.check, check


class SharedParts:
    """The shared parts of one support.

    The environment is None where a prop of the support has a wrong type, which the support reports.

    Attributes:
        construct: The support.
        environment: The environment and its source; None where it is wrong, which the support reports.
        deployment: Where it is deployed; None likewise.
        parts: What is declared; None where it is deployed already.
    """

    _by_app: ClassVar[dict[str, list[SharedParts]]] = {}
    _without: ClassVar[dict[str, list[tuple[Construct, Deployment]]]] = {}
    """Constructs by app, and the environment of which they share nothing."""

    def __init__(
        self,
        construct: Construct,
        environment_prop: EnvironmentProp | None,
        bucket: s3.IBucket | None,
        *,
        is_declared: bool,
    ) -> None:
        self.construct, self._environment_prop, self.bucket = construct, environment_prop, bucket
        self.environment: EnvironmentSource | None = None
        self.deployment: Deployment | None = None
        self.parts: FoundationParts | None = None
        try:
            self.environment = self.read_for(construct)
        except FindingsError as error:
            report(construct, error.findings)
            return
        deployment = with_bucket(self.environment.deployment, bucket)
        supports = [support for support in self._same(construct, deployment) if support.parts is not None]
        if is_declared and supports:
            path = supports[0].construct.node.path
            message = f"{path} is the support of environment {deployment.environment!r} already"
            hint = "share it: an account and region has one for each environment"
            report(construct, [Finding(code="FL610", message=message, hint=hint)])
            return
        report(construct, self._late_findings(construct, deployment))
        self.deployment = deployment
        SharedParts._by_app.setdefault(reference(construct.node.root), []).append(self)

    @classmethod
    def of(cls, construct: Construct, deployment: Deployment) -> SharedParts | None:
        """Parts that an environment's endpoints share, as the construct's stage has declared them until now.

        Among several it is the one that declares parts, else the first. A stage cannot refer to another one.
        """
        stage = _stage(construct)
        same = [support for support in cls._same(construct, deployment) if _stage(support.construct) == stage]
        return next((support for support in same if support.parts is not None), same[0] if same else None)

    @classmethod
    def go_without(cls, construct: Construct, deployment: Deployment) -> None:
        """Remember a construct that finds no support: one of its stage that comes later is too late."""
        cls._without.setdefault(reference(construct.node.root), []).append((construct, deployment))

    def read_for(self, construct: Construct) -> EnvironmentSource:
        """The environment, as of a construct in another stack perhaps.

        Raises:
            FindingsError: it is wrong, or that stack is elsewhere; it is empty if the support reports why.
        """
        if self._environment_prop is None:
            raise FindingsError([])
        return read_environment(construct, self._environment_prop)

    @property
    def declares_bucket(self) -> bool:
        """Whether the artifact bucket is one that is declared with it."""
        return self.parts is not None and self.deployment is not None and self.deployment.given_bucket is None

    def is_in_stack_of(self, construct: Construct) -> bool:
        """Whether the support and an endpoint are in one stack."""
        return _is_same(Stack.of(self.construct), Stack.of(construct))

    def alarm_targets(self, construct: Construct, endpoint: ResolvedEndpoint) -> AlarmTargets:
        """Whom alarms of an endpoint notify unless it has actions of its own."""
        if self.parts and self.is_in_stack_of(construct):
            return SupportTopics(self.parts.topics.arns_for(endpoint.topic_owner))
        return FoundationTopics(endpoint.deployment, endpoint.topic_owner)

    def tokens(self, construct: Construct, endpoint: ResolvedEndpoint) -> ServiceTokens:
        """Whom the custom resources of an endpoint call."""
        return ServiceTokens.of_environment(endpoint.deployment)

    def serve(self, construct: Construct, endpoint: EndpointParts) -> None:
        """Let the functions see the stack of an endpoint, which is deployed after them.

        Args:
            construct: The endpoint.
            endpoint: Its parts.
        """
        if self.deployment is not None:
            # A nested stack has its own tags: the functions ask the stack that calls them.
            Stack.of(construct).tags.set_tag(stack_tag(self.deployment), STACK_TAG_VALUE)
        if self.parts is not None:
            guard, logs, check = self.parts.guard, self.parts.logs, self.parts.check
            for resource, functions in calls(endpoint, guard, logs, check):
                resource.node.add_dependency(functions)

    @classmethod
    def _same(cls, construct: Construct, deployment: Deployment) -> list[SharedParts]:
        return [
            support
            for support in cls._by_app.get(reference(construct.node.root), ())
            if support.deployment and _place(support.deployment) == _place(deployment)
        ]

    @classmethod
    def _late_findings(cls, construct: Construct, deployment: Deployment) -> Iterator[Finding]:
        """A support after a construct of its stage that would have shared it."""
        for earlier, other_deployment in cls._without.get(reference(construct.node.root), ()):
            if _place(other_deployment) == _place(deployment) and _stage(earlier) == _stage(construct):
                path, name = earlier.node.path, deployment.environment
                message = (
                    f"{path} of environment {name!r} is declared before this support, and shares nothing"
                )
                hint = f"declare the support first, or pass `support=` to {path}"
                yield Finding(code="FL608", message=message, hint=hint)


def _place(deployment: Deployment) -> tuple[str, str, str]:
    return deployment.environment, deployment.account, deployment.region


def _stage(construct: Construct) -> str | None:
    stage = Stage.of(construct)
    return reference(stage) if stage else None


def _is_same(first: IConstruct, second: IConstruct) -> bool:
    """Whether two objects stand for one construct: what the CDK made itself has a new one for each look."""
    return reference(first) == reference(second)
