"""A Triton endpoint in somebody's own stack: by its spec's file, or by plain props."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import jsii
from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from triton_endpoints.endpoint.parts import EndpointParts
from triton_endpoints.library.alarm_actions import AlarmActions, alarm_references
from triton_endpoints.library.container_host import ContainerHost
from triton_endpoints.library.declaration import Declaration, declare
from triton_endpoints.library.environment import EnvironmentProp, invalid_props
from triton_endpoints.library.image import TritonImage
from triton_endpoints.library.model import TritonModel
from triton_endpoints.library.network import Subnets, VpcProps
from triton_endpoints.library.prop_types import has_right_types
from triton_endpoints.library.props import (
    Alarms,
    Capture,
    Container,
    Instance,
    Keys,
    Logs,
    Metrics,
    Number,
    Rollout,
    Sample,
    Scaling,
    Timeouts,
)
from triton_endpoints.library.reference import EndpointReference
from triton_endpoints.library.spec import FileSpec, PropsSpec
from triton_endpoints.library.support import EndpointSupport


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class TritonEndpoint(ContainerHost, EndpointReference):
    """A role, a model, an endpoint, its logs, scaling, alarms, queries and dashboard, in one construct.

    What is wrong with its props fails the synth at the construct's path, with what is wrong with all others;
    what is doubtful are warnings. What endpoints share is of an EndpointSupport, if there is one; else the
    stack of the endpoint has the functions that it needs.
    """

    _parts: EndpointParts | None = None
    _alarms: tuple[cloudwatch.IAlarm, ...] | None = None
    _support: EndpointSupport | None = None

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        endpoint_name: str,
        triton: str,
        instance: Instance,
        model: TritonModel,
        environment: EnvironmentProp | None = None,
        support: EndpointSupport | None = None,
        scaling: Scaling | None = None,
        rollout: Rollout | None = None,
        alarms: Alarms | None = Alarms(),  # noqa: B008 (it is frozen)
        alarm_actions: AlarmActions | None = None,
        dashboard: bool | None = None,
        capture: Capture | None = None,
        vpc: ec2.IVpc | None = None,
        vpc_subnets: Subnets | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] | None = None,
        isolated: bool = False,
        role: iam.IRole | None = None,
        container: Container | None = None,
        container_environment: Mapping[str, str | Number] | None = None,
        metrics: Metrics | None = None,
        logs: Logs | None = None,
        timeouts: Timeouts | None = None,
        samples: Sequence[Sample] = (),
        warm: Sequence[str] = (),
        image: TritonImage | None = None,
        cloudformation: Mapping[str, Keys] | None = None,
        allow: Mapping[str, str] | None = None,
    ) -> None:
        """Declare an endpoint of plain props, which mean what the keys of a spec of these names mean.

        Args:
            scope: The parent.
            id: The construct's own.
            endpoint_name: The fixed, public name.
            triton: Container release, such as `25.04`.
            instance: The machines.
            model: What is in S3.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment; default: the
                support's.
            support: What endpoints share; default: the environment's, if the app has declared it before,
                else nothing.
            scaling: A range of instances and its targets; default: `instance.count` instances.
            rollout: How a new configuration takes over; default: all calls at once.
            alarms: Thresholds; default: those of a spec; None: no alarm.
            alarm_actions: What alarms do, in place of the support's topics; without either, nothing.
            dashboard: Whether there is one; default: the environment's.
            capture: Which calls are kept; default: none.
            vpc: The VPC of the containers; default: SageMaker's own network.
            vpc_subnets: Which of its subnets; default: the private ones.
            security_groups: Those of the containers; default: a new one.
            isolated: No call leads into or out of the container but SageMaker's own.
            role: What the container acts in; default: a role of its own. It gets the permissions that the
                container needs, unless it is imported as immutable.
            container: Settings of the container; default: those of a spec.
            container_environment: Further variables of the container: text, or numbers that are tokens.
            metrics: Metrics in addition to SageMaker's own; default: those of a spec.
            logs: How long logs are kept; without it and a support, SageMaker makes the log groups.
            timeouts: How long SageMaker waits for a new instance; default: those of a spec.
            samples: Calls that the endpoint has to answer after each deploy.
            warm: Targets of a multi-model endpoint that are loaded after each deploy.
            image: The container's image; default: SageMaker's own of the release.
            cloudformation: Raw properties, by resource and path.
            allow: Rules that are broken on purpose, each with the reason.
        """
        super().__init__(scope, id, endpoint_name=str(endpoint_name))
        if not has_right_types(self, TritonEndpoint, locals()):
            return
        spec = PropsSpec(
            endpoint_name=endpoint_name,
            triton=triton,
            instance=instance,
            model=model,
            scaling=scaling,
            alarms=alarms,
            is_isolated=isolated,
            sections={
                "rollout": rollout,
                "capture": capture,
                "container": container,
                "environment": container_environment,
                "metrics": metrics,
                "logs": logs,
                "timeouts": timeouts,
                "samples": samples,
                "warm": warm,
                "image_digest": image.digest if image else None,
                "cloudformation": cloudformation,
                "allow": allow,
            },
        )
        self._declare(
            Declaration(
                spec=spec,
                environment=environment,
                support=support,
                alarm_actions=alarm_actions,
                dashboard=dashboard,
                role=role,
                image=image.bind(self) if image and image.bind else None,
                network=VpcProps(vpc=vpc, subnets=vpc_subnets, groups=security_groups),
            )
        )

    @classmethod
    def from_spec(
        cls,
        scope: Construct,
        id: str,
        *,
        spec: str | Path,
        environment: EnvironmentProp | None = None,
        support: EndpointSupport | None = None,
        lock: str | Path | None = None,
        model_data_url: str | None = None,
        model_data_key: kms.IKey | None = None,
        alarm_actions: AlarmActions | None = None,
        dashboard: bool | None = None,
        role: iam.IRole | None = None,
        vpc: ec2.IVpc | None = None,
        vpc_subnets: Subnets | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] | None = None,
    ) -> TritonEndpoint:
        """Declare the endpoint that a spec describes.

        Args:
            scope: The parent.
            id: The construct's own.
            spec: The file, relative to the folder in which the app runs.
            environment: A name, the path of an environments/ENV.yaml, whose defaults and overrides hold, or a
                FleetEnvironment; default: the support's.
            support: What endpoints share; default: the environment's, if the app has declared it before,
                else nothing.
            lock: What `fleet lock` wrote; default: `locks/ENV/ENDPOINT.lock.yaml` of the fleet whose
                model_specs/ the spec is in, else `ENDPOINT.lock.yaml` beside the spec.
            model_data_url: What is in S3, in place of a lock's archives.
            model_data_key: The KMS key of these objects.
            alarm_actions: What alarms do, in place of the support's topics; without either, nothing.
            dashboard: Whether there is one; default: the environment's.
            role: What the container acts in; default: a role of its own.
            vpc: The VPC of the containers; default: `network` of the spec.
            vpc_subnets: Which of its subnets; default: the private ones.
            security_groups: Those of the containers; default: a new one.
        """
        props = locals()
        endpoint = _SpecEndpoint(scope, id, endpoint_name=id)
        if not has_right_types(endpoint, TritonEndpoint.from_spec, props):
            return endpoint
        source = FileSpec(
            file=Path(spec),
            lock=Path(lock) if lock is not None else None,
            model_data_url=model_data_url,
            model_data_key=model_data_key,
        )
        endpoint._name = source.endpoint_name(id)
        endpoint._declare(
            Declaration(
                spec=source,
                environment=environment,
                support=support,
                alarm_actions=alarm_actions,
                dashboard=dashboard,
                role=role,
                network=VpcProps(vpc=vpc, subnets=vpc_subnets, groups=security_groups),
            )
        )
        return endpoint

    @classmethod
    def from_endpoint_name(cls, scope: Construct, id: str, endpoint_name: str) -> EndpointReference:
        """An endpoint of the stack's account and region that is deployed elsewhere."""
        return EndpointReference(scope, id, endpoint_name=endpoint_name)

    @classmethod
    def from_endpoint_arn(cls, scope: Construct, id: str, endpoint_arn: str) -> EndpointReference:
        """An endpoint of any account and region that is deployed elsewhere; its name is that of the ARN."""
        name = Stack.of(scope).split_arn(endpoint_arn, ArnFormat.SLASH_RESOURCE_NAME).resource_name
        return EndpointReference(scope, id, endpoint_name=name or "", endpoint_arn=endpoint_arn)

    @classmethod
    def from_endpoint_attributes(
        cls, scope: Construct, id: str, *, endpoint_name: str, endpoint_arn: str
    ) -> EndpointReference:
        """An endpoint of any account and region that is deployed elsewhere.

        Args:
            scope: The parent.
            id: The construct's own.
            endpoint_name: Its name as its metrics have it, in upper and lower case.
            endpoint_arn: Its ARN.
        """
        return EndpointReference(scope, id, endpoint_name=endpoint_name, endpoint_arn=endpoint_arn)

    @property
    def parts(self) -> EndpointParts:
        """The resources of the endpoint, for what its props do not have.

        Raises:
            ValueError: the props are wrong; the text is that of the synth.
        """
        if self._parts is None:
            supports = [self._support] if self._support else []
            raise invalid_props(self, *supports)
        return self._parts

    @property
    def endpoint_name(self) -> str:
        """The EndpointName for `invoke_endpoint`; who refers to it is deployed after the endpoint."""
        return self._parts.endpoint.attr_endpoint_name if self._parts else self._name

    @property
    def endpoint_arn(self) -> str:
        """The ARN, as SageMaker answers it."""
        return self._parts.endpoint.ref if self._parts else super().endpoint_arn

    @property
    def alarms(self) -> tuple[cloudwatch.IAlarm, ...]:
        """The operators' alarms, for composite alarms and the like."""
        if self._alarms is None:
            self._alarms = alarm_references(self, self._parts.alarms if self._parts else ())
        return self._alarms

    def _declare(self, declaration: Declaration) -> None:
        self._role, self._support = declaration.role, declaration.support
        self._placement = declaration.network.placement(self)
        self._parts = declare(self, declaration, self._placement)
        self._model = self._parts.model if self._parts else None
        self._own_role = self._parts.role if self._parts else None
        if self._parts is not None:
            self.node.default_child = self._parts.endpoint


class _SpecEndpoint(TritonEndpoint):
    """An endpoint of a spec's file."""

    def __init__(self, scope: Construct, id: str, *, endpoint_name: str) -> None:
        EndpointReference.__init__(self, scope, id, endpoint_name=endpoint_name)
