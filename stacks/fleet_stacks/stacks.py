"""The stacks of an environment: one that outlives every endpoint, and one for each endpoint."""

from __future__ import annotations

from aws_cdk import CfnOutput, Environment, PermissionsBoundary, Stack
from constructs import Construct

from triton_endpoints import declare_endpoint, declare_foundation
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.deployment import Deployment


class FoundationStack(Stack):
    """The artifact bucket, the topics of alarms, what looks after scaling and logs, what checks and builds.

    Its template is the same whichever endpoints there are.
    """

    def __init__(self, scope: Construct, *, deployment: Deployment) -> None:
        super().__init__(
            scope,
            deployment.stack,
            env=Environment(account=deployment.account, region=deployment.region),
            description=f"Triton Fleet {deployment.environment}: shared resources of its endpoints",
            termination_protection=True,
            permissions_boundary=_boundary(deployment),
        )
        declare_foundation(self, deployment)


class EndpointStack(Stack):
    """Everything of one endpoint; it knows the bucket by its name and depends on no other stack."""

    def __init__(self, scope: Construct, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(
            scope,
            endpoint.stack,
            env=Environment(account=endpoint.deployment.account, region=endpoint.deployment.region),
            description=f"Triton endpoint {endpoint.name} ({endpoint.deployment.environment})",
            termination_protection=endpoint.deployment.termination_protection,
            permissions_boundary=_boundary(endpoint.deployment),
        )
        parts = declare_endpoint(self, endpoint)
        CfnOutput(
            self,
            "EndpointName",
            value=parts.served.endpoint.attr_endpoint_name,
            description="Name of the endpoint, for InvokeEndpoint",
        )
        if parts.invoker:
            CfnOutput(
                self,
                "InvokerRole",
                value=parts.invoker.role.attr_arn,
                description="ARN of the role that the invokers of the spec assume",
            )


def _boundary(deployment: Deployment) -> PermissionsBoundary | None:
    """The environment's permissions boundary, for every role of a stack, those of the CDK's functions too."""
    arn = deployment.permissions_boundary
    return PermissionsBoundary.from_arn(arn) if arn else None
