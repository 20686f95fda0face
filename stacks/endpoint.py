"""The stateless stack of one endpoint."""

from __future__ import annotations

from aws_cdk import CfnOutput, Environment, RemovalPolicy, Stack
from aws_cdk import aws_logs as logs
from constructs import Construct

from fleet.resolve.endpoint import VARIANT, ResolvedEndpoint
from triton_endpoints import (
    EndpointDashboard,
    EndpointQueries,
    EndpointRole,
    EndpointScaling,
    GuardedUpdate,
    TritonEndpoint,
    TritonModel,
)

RETENTION = 30
"""Days for which the log of Triton's metrics is kept."""


class EndpointStack(Stack):
    """Everything of one endpoint; it knows the bucket by its name and depends on no other stack."""

    def __init__(self, scope: Construct, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(
            scope,
            endpoint.stack,
            env=Environment(account=endpoint.place.account, region=endpoint.place.region),
            description=f"Triton endpoint {endpoint.name} ({endpoint.place.environment})",
        )
        role = EndpointRole(self, "Role", endpoint=endpoint)
        model = TritonModel(self, "Model", endpoint=endpoint, role=role)
        served = TritonEndpoint(self, "Endpoint", endpoint=endpoint, model=model, role=role)
        if endpoint.triton_metrics:
            # Named by us: the container is told the name before the group exists.
            group = logs.CfnLogGroup(
                self,
                "TritonMetricsLog",
                log_group_name=endpoint.triton_metrics.log_group,
                retention_in_days=RETENTION,
            )
            group.apply_removal_policy(RemovalPolicy.DESTROY)
            served.endpoint.add_resource_dependency(group)
        name = served.endpoint.attr_endpoint_name
        # Scaled or not: the variant may have been scaled until now, or by hand.
        update = GuardedUpdate(
            self,
            "Update",
            place=endpoint.place,
            endpoint=endpoint.name,
            variant=VARIANT,
            instance=endpoint.instance.type,
        )
        served.endpoint.add_resource_dependency(update.before)
        update.after.add_resource_dependency(served.endpoint)
        if endpoint.scaling:
            EndpointScaling(
                self,
                "Scaling",
                scaling=endpoint.scaling,
                endpoint_name=name,
                variant=VARIANT,
                after=update.after,
            )
        EndpointQueries(self, "Queries", endpoint=endpoint)
        if endpoint.place.dashboards:
            EndpointDashboard(self, "Dashboard", endpoint=endpoint)
        CfnOutput(self, "EndpointName", value=name, description="For invoke_endpoint")
