"""What the endpoints of an environment share, in a stack of the app's own."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar
from weakref import WeakSet

from aws_cdk import Acknowledgment, Stack, Token, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from constructs import Construct

from fleet.endpoint.context.tags import environment_tags
from fleet.endpoint.resolve import place_of
from fleet.endpoint.resolved_endpoint import Deployment, GivenBucket
from fleet.findings import Finding, FindingsError, Severity
from fleet.spec.alarms import AlarmSeverity
from triton_endpoints.endpoint.alarms import AlarmTargets, FoundationTopics
from triton_endpoints.endpoint.parts import EndpointParts
from triton_endpoints.foundation import FoundationParts, declare_foundation
from triton_endpoints.library.alarm_actions import SupportTopics
from triton_endpoints.library.boundary import bound_roles
from triton_endpoints.library.environment import EnvironmentProp, EnvironmentSource, read_environment
from triton_endpoints.library.findings import report
from triton_endpoints.library.tags import tag
from triton_endpoints.policy import document


class EndpointSupport(Construct):
    """The artifact bucket, the topics of alarms, what looks after scaling and logs, what checks and builds.

    One for each environment, account and region: the names of functions and topics follow from these, as
    those of the Foundation of `fleet deploy` do, and an account has one of either.
    """

    _all: ClassVar[WeakSet[EndpointSupport]] = WeakSet()
    place: Deployment | None
    _parts: FoundationParts | None

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        environment: EnvironmentProp,
        bucket: s3.IBucket | None = None,
        engine_builds: bool = True,
    ) -> None:
        """Declare what the endpoints of an environment share.

        Args:
            scope: The parent; its stack has an account and a region.
            id: The construct's own.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment.
            bucket: The artifact bucket; default: one is declared, named as `bucket_name` says, and retained.
            engine_builds: Whether TensorRT engines can be built.
        """
        super().__init__(scope, id)
        self._read(environment, bucket, declared=True)
        if self.place is not None:
            tag(self, environment_tags(self._environment.environment))
            bound_roles(self, self.place)
            self._parts = declare_foundation(self, self.place, bucket=bucket, engine_builds=engine_builds)

    @classmethod
    def from_environment(
        cls, scope: Construct, id: str, *, environment: EnvironmentProp, bucket: s3.IBucket | None = None
    ) -> EndpointSupport:
        """What is deployed already: the Foundation of `fleet deploy`, or the support of another app.

        Args:
            scope: The parent; its stack has the environment's account and region.
            id: The construct's own.
            environment: As for a support that is declared.
            bucket: The artifact bucket where it is not the environment's own.
        """
        return _DeployedSupport(scope, id, environment=environment, bucket=bucket)

    @staticmethod
    def bucket_name(environment: str, account: str, region: str) -> str:
        """The name of an environment's own artifact bucket, to which `fleet publish` uploads."""
        return f"triton-fleet-{environment}-{account}-{region}"

    @property
    def bucket(self) -> s3.IBucket | None:
        """The artifact bucket; None where nothing is declared here and none was given."""
        return self._parts.bucket if self._parts else self._bucket

    def alarm_topic(self, severity: AlarmSeverity) -> sns.ITopic:
        """The topic that alarms of a severity notify, of a support that is declared here.

        Raises:
            ValueError: it is deployed elsewhere.
        """
        if self._parts is None:
            raise ValueError(f"{self.node.path} declares no topics; take them from where it is declared")
        if severity not in self._topics:
            arn = self._parts.topics.arns[severity]
            self._topics[severity] = sns.Topic.from_topic_arn(self, f"{severity.capitalize()}Topic", arn)
        return self._topics[severity]

    def _read(self, environment: EnvironmentProp, bucket: s3.IBucket | None, *, declared: bool) -> None:
        self._given, self._bucket = environment, bucket
        self._parts = None
        self._topics = dict[AlarmSeverity, sns.ITopic]()
        self._policies = dict[str, iam.CfnPolicy]()
        self.place = None
        try:
            self._environment: EnvironmentSource = read_environment(self, environment)
        except FindingsError as error:
            report(self, error.findings)
            return
        self.place = self._with_bucket(place_of(self._environment.environment))
        if declared and (others := [each for each in self._same(self, self.place) if each._is_declared]):
            message = (
                f"{others[0].node.path} is the support of environment {self.place.environment!r} already"
            )
            hint = "share it: an account and region has one for each environment"
            report(self, [Finding(code="FL610", message=message, hint=hint)])
            self.place = None
            return
        EndpointSupport._all.add(self)

    def read_for(self, construct: Construct) -> EnvironmentSource:
        """The environment, as of a construct in another stack perhaps.

        Raises:
            FindingsError: it is wrong, or that stack is elsewhere.
        """
        return read_environment(construct, self._given)

    @property
    def declares_bucket(self) -> bool:
        """Whether the artifact bucket is one that is declared here."""
        return self._parts is not None and self._bucket is None

    @property
    def _is_declared(self) -> bool:
        return self._parts is not None

    def _with_bucket(self, place: Deployment) -> Deployment:
        if self._bucket is None:
            return place
        key = self._bucket.encryption_key
        given = GivenBucket(self._bucket.bucket_name, key.key_arn if key else None)
        return replace(place, given_bucket=given)

    @classmethod
    def _same(cls, construct: Construct, place: Deployment) -> list[EndpointSupport]:
        root, names = construct.node.root, (place.environment, place.account, place.region)
        return [
            each
            for each in cls._all
            if each.place
            and each.node.root is root
            and each is not construct
            and (each.place.environment, each.place.account, each.place.region) == names
        ]

    @classmethod
    def of(cls, construct: Construct, place: Deployment) -> EndpointSupport | None:
        """The support of an environment that the construct's app has declared until now."""
        return next(iter(cls._same(construct, place)), None)

    def alarm_targets(self, construct: Construct) -> AlarmTargets:
        """Whom alarms of an endpoint notify unless it has actions of its own."""
        if self._parts and Stack.of(self) is Stack.of(construct):
            return SupportTopics(self._parts.topics.arns)
        assert self.place is not None  # noqa: S101 (a support without a place serves no endpoint)
        return FoundationTopics(self.place)

    def serve(self, construct: Construct, endpoint: EndpointParts) -> None:
        """Let the functions look after an endpoint of the app, once they are there.

        Args:
            construct: The endpoint.
            endpoint: Its parts.
        """
        policy = self._see_stack(construct)
        if self._parts is None:
            return
        needs = (
            (endpoint.update.before, self._parts.guard),
            (endpoint.update.after, self._parts.guard),
            (endpoint.logs.owned, self._parts.logs),
            (endpoint.check, self._parts.check),
        )
        for resource, function in needs:
            resource.node.add_dependency(function)
            if policy is not None:
                resource.node.add_dependency(policy)

    def _see_stack(self, construct: Construct) -> iam.CfnPolicy | None:
        """Grant the functions to ask whether the endpoint's stack rolls back; its name is not one of ours."""
        stack = Stack.of(construct)
        while stack.nested_stack_parent is not None:
            stack = stack.nested_stack_parent
        nested, place = stack is not Stack.of(construct), self.place
        name = stack.stack_name
        if place is None or (name.startswith(f"{place.stack}-") and not Token.is_unresolved(name)):
            return None
        if self._parts is None:
            message = f"the functions of {place.stack} may not see that stack {name!r} rolls back"
            hint = f"call the stack `{place.stack}-...`, or declare an EndpointSupport in this app"
            warning = Finding(code="FL611", message=message, hint=hint, severity=Severity.WARNING)
            report(construct, [warning])
            return None
        id = f"See{'NestedStacks' if nested else 'Stack'}{name}"
        if id in self._policies:
            return self._policies[id]
        resource = place.arn("cloudformation", f"stack/{name}{'-*' if nested else ''}/*")
        statement = {
            "Sid": "SeeStack",
            "Effect": "Allow",
            "Action": "cloudformation:DescribeStacks",
            "Resource": resource,
        }
        self._policies[id] = policy = iam.CfnPolicy(
            self,
            id,
            policy_name=id,
            roles=[each.role_name for each in self._parts.roles],
            policy_document=document([statement]),
        )
        reason = "the stack of an endpoint; its id ends in what CloudFormation decides"
        Validations.of(policy).acknowledge(
            Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=reason)
        )
        return policy


class _DeployedSupport(EndpointSupport):
    """A support of which nothing is declared here."""

    def __init__(
        self, scope: Construct, id: str, *, environment: EnvironmentProp, bucket: s3.IBucket | None
    ) -> None:
        super(EndpointSupport, self).__init__(scope, id)
        self._read(environment, bucket, declared=False)
