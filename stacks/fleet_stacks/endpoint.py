"""The stateless stack of one endpoint."""

from __future__ import annotations

from aws_cdk import CfnOutput, Environment, Stack
from constructs import Construct

from fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint
from fleet_stacks.boundary import bounded_by
from triton_endpoints import (
    CheckedEndpoint,
    EndpointAlarms,
    EndpointDashboard,
    EndpointQueries,
    EndpointRole,
    EndpointScaling,
    GuardedUpdate,
    OwnedLogs,
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
            permissions_boundary=bounded_by(endpoint.place),
        )
        role = EndpointRole(self, "Role", endpoint=endpoint)
        model = TritonModel(self, "Model", endpoint=endpoint, role=role)
        served = TritonEndpoint(self, "Endpoint", endpoint=endpoint, model=model)
        # Before the first line is logged: a group that a container makes is kept for ever.
        logs = OwnedLogs(self, "Logs", endpoint=endpoint).owned
        served.endpoint.add_resource_dependency(logs)
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
        checked = CheckedEndpoint(
            self, "Check", endpoint=endpoint, config_name=served.config.attr_endpoint_config_name
        )
        checked.add_resource_dependency(update.after)
        if endpoint.scaling:
            scaling = EndpointScaling(
                self,
                "Scaling",
                scaling=endpoint.scaling,
                endpoint_name=name,
                variant=VARIANT,
                after=update.after,
            )
            for each in scaling.resources:
                checked.add_resource_dependency(each)
        EndpointAlarms(self, "Alarms", endpoint=endpoint)
        for query in EndpointQueries(self, "Queries", endpoint=endpoint).queries:
            query.add_resource_dependency(logs)
        if endpoint.place.dashboards:
            EndpointDashboard(self, "Dashboard", endpoint=endpoint)
        CfnOutput(self, "EndpointName", value=name, description="For invoke_endpoint")
