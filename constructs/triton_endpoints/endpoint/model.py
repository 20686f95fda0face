"""The SageMaker Model: container image, archive and environment."""

from __future__ import annotations

from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from triton_endpoints.endpoint.role import EndpointRole
from triton_endpoints.logical_ids import lay_over
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.container import Network
from triton_fleet.spec.endpoint import Compression, Mode

MODES = {Mode.MULTI_MODEL: "MultiModel"}
"""SageMaker's word for a mode; of all others, "SingleModel"."""


class EndpointModel(Construct):
    """A Model of one Triton container; CloudFormation names it, so that any change replaces it."""

    def __init__(self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint, role: EndpointRole) -> None:
        super().__init__(scope, id)
        as_files = endpoint.compression is Compression.NONE
        self.model = sagemaker.CfnModel(
            self,
            "Resource",
            execution_role_arn=role.arn,
            primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
                image=endpoint.image.uri,
                mode=MODES.get(endpoint.spec.mode, "SingleModel"),
                model_data_url=None if as_files else endpoint.model_data_url,
                model_data_source=_files(endpoint.model_data_url) if as_files else None,
                environment=dict(endpoint.variables),
            ),
            vpc_config=_vpc(endpoint.spec.network),
            enable_network_isolation=True if endpoint.spec.network.isolated else None,
        )
        for policy in role.policies:
            self.model.add_resource_dependency(policy)
        if role.given_role is not None:
            self.model.node.add_dependency(role.given_role)  # what the app grants to it
        lay_over(self.model, endpoint.spec.cloudformation.get("Model", {}))


def _vpc(network: Network) -> sagemaker.CfnModel.VpcConfigProperty | None:
    if not network.subnets:
        return None
    return sagemaker.CfnModel.VpcConfigProperty(
        subnets=list(network.subnets), security_group_ids=list(network.security_groups)
    )


def _files(prefix: str) -> sagemaker.CfnModel.ModelDataSourceProperty:
    return sagemaker.CfnModel.ModelDataSourceProperty(
        s3_data_source=sagemaker.CfnModel.S3DataSourceProperty(
            compression_type="None", s3_data_type="S3Prefix", s3_uri=prefix
        )
    )
