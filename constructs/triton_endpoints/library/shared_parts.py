"""How an endpoint finds what it shares with others, and what the two do for each other."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import ClassVar, Literal

from aws_cdk import Acknowledgment, Stack, Stage, Token, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct

from triton_endpoints.acknowledgements import flat
from triton_endpoints.endpoint.alarms import AlarmTargets, FoundationTopics
from triton_endpoints.endpoint.parts import EndpointParts
from triton_endpoints.foundation import FoundationParts
from triton_endpoints.library.alarm_actions import SupportTopics
from triton_endpoints.library.environment import (
    EnvironmentProp,
    EnvironmentSource,
    read_environment,
    reference,
    report,
)
from triton_endpoints.policy import document
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.spec.deployment import Deployment, GivenBucket

_owners: dict[tuple[str, str, str, str], str] = {}
"""The paths of constructs, by app, account, region and what they declare there."""
MAX_POLICY_NAME_CHARACTERS = 128
"""IAM's."""


def claim(construct: Construct, subject: str, hint: str) -> None:
    """Let one construct of the app declare something in an account and region.

    Args:
        construct: Who declares it.
        subject: `an endpoint 'search'`, and the like; upper and lower case are one, as they are to SageMaker.
        hint: What to do if another construct declares it.

    Raises:
        FindingsError: another construct declares it.
    """
    stack = Stack.of(construct)
    # Nobody knows whether two stacks without an account are in one.
    account = stack.node.path if Token.is_unresolved(stack.account) else stack.account
    key = (reference(construct.node.root), account, stack.region, subject.lower())
    owner = _owners.setdefault(key, construct.node.path)
    if owner != construct.node.path:
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


class SharedParts:
    """The shared parts of one support.

    Attributes:
        construct: The support.
        environment: The environment and its source; None where it is wrong, which the support reports.
        deployment: Where it is deployed; None likewise.
        parts: What is declared; None where it is deployed already.
    """

    _by_app: ClassVar[dict[str, list[SharedParts]]] = {}

    def __init__(
        self,
        construct: Construct,
        environment_prop: EnvironmentProp,
        bucket: s3.IBucket | None,
        *,
        is_declared: bool,
    ) -> None:
        self.construct, self._environment_prop, self.bucket = construct, environment_prop, bucket
        self.environment: EnvironmentSource | None = None
        self.deployment: Deployment | None = None
        self.parts: FoundationParts | None = None
        self._policies = dict[str, iam.CfnPolicy]()
        try:
            self.environment = read_environment(construct, environment_prop)
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

    def read_for(self, construct: Construct) -> EnvironmentSource:
        """The environment, as of a construct in another stack perhaps.

        Raises:
            FindingsError: it is wrong, or that stack is elsewhere.
        """
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

    def serve(self, construct: Construct, endpoint: EndpointParts) -> None:
        """Let the functions look after an endpoint of the app, which is deployed after them.

        Args:
            construct: The endpoint.
            endpoint: Its parts.
        """
        policy = self._see_stack(construct)
        if self.parts is None:
            return
        needs = (
            (endpoint.update.before, self.parts.guard),
            (endpoint.update.after, self.parts.guard),
            (endpoint.logs.resource, self.parts.logs),
            (endpoint.check, self.parts.check),
        )
        for resource, function in needs:
            resource.node.add_dependency(function)
            if policy is not None:
                resource.node.add_dependency(policy)

    @classmethod
    def _same(cls, construct: Construct, deployment: Deployment) -> list[SharedParts]:
        names = (deployment.environment, deployment.account, deployment.region)
        return [
            support
            for support in cls._by_app.get(reference(construct.node.root), ())
            if support.deployment
            and (support.deployment.environment, support.deployment.account, support.deployment.region)
            == names
        ]

    def _see_stack(self, construct: Construct) -> iam.CfnPolicy | None:
        """Grant the functions to ask whether the endpoint's stack rolls back; its name is not one of ours."""
        stack = own = Stack.of(construct)
        while stack.nested_stack_parent is not None:
            stack = stack.nested_stack_parent
        name, deployment = stack.stack_name, self.deployment
        if deployment is None or (name.startswith(f"{deployment.stack}-") and not Token.is_unresolved(name)):
            return None
        if self.parts is None:
            message = f"the functions of {deployment.stack} may not see that stack {name!r} rolls back"
            hint = f"call the stack `{deployment.stack}-...`, or declare an EndpointSupport in this app"
            warning = Finding(code="FL611", message=message, hint=hint, severity=Severity.WARNING)
            report(construct, [warning])
            return None
        id, end = (f"SeeStack{name}", "") if _is_same(stack, own) else (f"SeeNestedStacks{name}", "-*")
        if id not in self._policies:
            resource = deployment.arn("cloudformation", f"stack/{name}{end}/*")
            self._policies[id] = self._policy(id, resource, self.parts)
        return self._policies[id]

    def _policy(self, id: str, resource: str, parts: FoundationParts) -> iam.CfnPolicy:
        statement = {
            "Sid": "SeeStack",
            "Effect": "Allow",
            "Action": "cloudformation:DescribeStacks",
            "Resource": resource,
        }
        policy = iam.CfnPolicy(
            self.construct,
            id,
            policy_name=_policy_name(id),
            roles=[role.role_name for role in parts.roles],
            policy_document=document([statement]),
        )
        reason = "the stack of an endpoint; its id ends in what CloudFormation decides"
        Validations.of(policy).acknowledge(
            Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{flat(policy, resource)}]", reason=reason)
        )
        return policy


def _policy_name(id: str) -> str:
    """The id of a policy; a hash stands for the end of one that is too long, as a stack's name may be."""
    if len(id) <= MAX_POLICY_NAME_CHARACTERS:
        return id
    end = f"-{sha256(id.encode()).hexdigest()[:16]}"
    return f"{id[: MAX_POLICY_NAME_CHARACTERS - len(end)]}{end}"


def _stage(construct: Construct) -> str | None:
    stage = Stage.of(construct)
    return reference(stage) if stage else None


def _is_same(first: IConstruct, second: IConstruct) -> bool:
    """Whether two objects stand for one construct: what the CDK made itself has a new one for each look."""
    return reference(first) == reference(second)
