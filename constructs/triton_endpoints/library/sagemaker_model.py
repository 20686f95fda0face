"""A SageMaker Model of a Triton container, for an endpoint configuration or a job of the app's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jsii
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces import aws_sagemaker as interfaces
from constructs import Construct

from triton_endpoints.endpoint.model import EndpointModel
from triton_endpoints.endpoint.role import EndpointRole
from triton_endpoints.library.container_host import ContainerHost
from triton_endpoints.library.declaration import Declaration, Resolution, resolve
from triton_endpoints.library.environment import EnvironmentProp
from triton_endpoints.library.image import TritonImage
from triton_endpoints.library.model import TritonModel
from triton_endpoints.library.network import Subnets, VpcProps
from triton_endpoints.library.prop_types import has_right_types
from triton_endpoints.library.props import Container, Instance, Keys, Metrics, Number
from triton_endpoints.library.spec import PropsSpec
from triton_endpoints.library.support import EndpointSupport
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint


class TritonRole(iam.Role):
    """A role for Triton containers, for `role` of endpoints and Models, which add what each needs.

    SageMaker alone may take it on, for this account.
    """

    def __init__(
        self, scope: Construct, id: str, *, permissions_boundary: iam.IManagedPolicy | None = None
    ) -> None:
        """Declare the role.

        Args:
            scope: The parent.
            id: The construct's own.
            permissions_boundary: The policy that bounds it; default: none.
        """
        conditions = {"StringEquals": {"aws:SourceAccount": Stack.of(scope).account}}
        super().__init__(
            scope,
            id,
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com", conditions=conditions),
            description="Execution role of Triton containers",
            permissions_boundary=permissions_boundary,
        )


@jsii.implements(iam.IGrantable, ec2.IConnectable, interfaces.IModelRef)
class SageMakerModel(ContainerHost):
    """A Model and its execution role, for an endpoint configuration of the app's own."""

    _resolution: Resolution | None = None

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
        vpc: ec2.IVpc | None = None,
        vpc_subnets: Subnets | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] | None = None,
        isolated: bool = False,
        role: iam.IRole | None = None,
        container: Container | None = None,
        container_environment: Mapping[str, str | Number] | None = None,
        metrics: Metrics | None = None,
        image: TritonImage | None = None,
        cloudformation: Mapping[str, Keys] | None = None,
        allow: Mapping[str, str] | None = None,
    ) -> None:
        """Declare a Model of plain props, which mean what the keys of a spec of these names mean.

        Args:
            scope: The parent.
            id: The construct's own.
            endpoint_name: The endpoint that will host it; the role may write the logs of this one.
            triton: Container release, such as `25.04`.
            instance: The machines that it is for: rules compare their GPUs and drivers with the release.
            model: What is in S3.
            environment: A name, the path of an environments/ENV.yaml, or a FleetEnvironment; default: the
                support's.
            support: What endpoints share; default: the environment's, if the app has declared it before.
            vpc: The VPC of the containers; default: SageMaker's own network.
            vpc_subnets: Which of its subnets; default: the private ones.
            security_groups: Those of the containers; default: a new one.
            isolated: No call leads into or out of the container but SageMaker's own.
            role: What the container acts in; default: a role of its own. It gets the permissions that the
                container needs, unless it is imported as immutable.
            container: Settings of the container; default: those of a spec.
            container_environment: Further variables of the container: text, or numbers that are tokens.
            metrics: Metrics in addition to SageMaker's own; default: those of a spec.
            image: The container's image; default: SageMaker's own of the release.
            cloudformation: Raw properties, by resource and path.
            allow: Rules that are broken on purpose, each with the reason.
        """
        super().__init__(scope, id)
        if not has_right_types(self, SageMakerModel, locals()):
            return
        spec = PropsSpec(
            endpoint_name=endpoint_name,
            triton=triton,
            instance=instance,
            model=model,
            is_isolated=isolated,
            sections={
                "container": container,
                "environment": container_environment,
                "metrics": metrics,
                "image_digest": image.digest if image else None,
                "cloudformation": cloudformation,
                "allow": allow,
            },
        )
        network = VpcProps(vpc=vpc, subnets=vpc_subnets, groups=security_groups)
        self._placement = network.placement(self)
        place = image.bind(self) if image and image.bind else None
        declaration = Declaration(
            spec=spec, environment=environment, support=support, image=place, network=network
        )
        resolution = resolve(self, declaration, self._placement, shares=False)
        self._resolution, self._role = resolution, role
        if resolution is not None:
            endpoint_role = EndpointRole(self, "Role", endpoint=resolution.endpoint, given_role=role)
            endpoint_model = EndpointModel(self, "Resource", endpoint=resolution.endpoint, role=endpoint_role)
            self._model, self._own_role = endpoint_model.model, endpoint_role.role
            self.node.default_child = self._model

    @property
    def model_name(self) -> str:
        """The ModelName for a production variant."""
        return self._model.attr_model_name if self._model else "unresolved"

    @property
    def model_arn(self) -> str:
        """The ARN of the Model."""
        return self._model.ref if self._model else "unresolved"

    @property
    def model_ref(self) -> interfaces.ModelReference:
        """The reference by which generated constructs of the CDK take a Model."""
        return interfaces.ModelReference(model_arn=self.model_arn)


def facts_of(model: SageMakerModel) -> ResolvedEndpoint | None:
    """The facts that a Model's props lead to, such as its host image; None where these are wrong."""
    return model._resolution.endpoint if model._resolution else None
