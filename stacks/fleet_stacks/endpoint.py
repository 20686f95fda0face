"""The stateless stack of one endpoint."""

from __future__ import annotations

from aws_cdk import CfnOutput, Environment, Stack
from constructs import Construct

from fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from fleet_stacks.boundary import bounded_by
from triton_endpoints import declare_endpoint


class EndpointStack(Stack):
    """Everything of one endpoint; it knows the bucket by its name and depends on no other stack."""

    def __init__(self, scope: Construct, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(
            scope,
            endpoint.stack,
            env=Environment(account=endpoint.place.account, region=endpoint.place.region),
            description=f"Triton endpoint {endpoint.name} ({endpoint.place.environment})",
            permissions_boundary=bounded_by(endpoint.place),
        )
        served = declare_endpoint(self, endpoint).served
        CfnOutput(
            self, "EndpointName", value=served.endpoint.attr_endpoint_name, description="For invoke_endpoint"
        )
