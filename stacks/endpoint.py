"""The stateless stack of one endpoint."""

from __future__ import annotations

from aws_cdk import CfnOutput, Environment, RemovalPolicy, Stack
from aws_cdk import aws_logs as logs
from constructs import Construct

from fleet.resolve.endpoint import VARIANT, ResolvedEndpoint
from triton_endpoints import (
    EndpointDashboard,
    EndpointRole,
    EndpointScaling,
    ScalingGuardStep,
    TritonEndpoint,
    TritonModel,
)


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
            group = logs.LogGroup(
                self,
                "TritonMetricsLog",
                log_group_name=endpoint.triton_metrics.log_group,
                retention=logs.RetentionDays.ONE_MONTH,
                removal_policy=RemovalPolicy.DESTROY,
            )
            served.endpoint.node.add_dependency(group)
        name = served.endpoint.attr_endpoint_name
        before, after = (self._guard(endpoint, step) for step in ("before", "after"))
        served.endpoint.node.add_dependency(before)
        after.node.add_dependency(served.endpoint)
        if endpoint.scaling:
            scaling = EndpointScaling(
                self, "Scaling", scaling=endpoint.scaling, endpoint_name=name, variant=VARIANT
            )
            scaling.node.add_dependency(after)
        EndpointDashboard(self, "Dashboard", endpoint=endpoint, endpoint_name=name)
        CfnOutput(self, "EndpointName", value=name, description="For invoke_endpoint")

    def _guard(self, endpoint: ResolvedEndpoint, step: str) -> ScalingGuardStep:
        """Scaled or not: a variant may have been scaled until now, or by hand."""
        return ScalingGuardStep(
            self,
            f"{step.capitalize()}Update",
            place=endpoint.place,
            endpoint=endpoint.name,
            variant=VARIANT,
            instance=endpoint.instance.type,
            step=step,
        )
