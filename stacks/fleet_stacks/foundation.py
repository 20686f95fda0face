"""The stateful stack of an environment: what outlives every endpoint."""

from __future__ import annotations

from aws_cdk import Environment, Stack
from constructs import Construct

from fleet.endpoint.resolved_endpoint import Deployment
from fleet_stacks.boundary import bounded_by
from triton_endpoints import declare_foundation


class FoundationStack(Stack):
    """The artifact bucket, the topics of alarms, what looks after scaling and logs, what checks and builds.

    Its template is the same whichever endpoints there are.
    """

    def __init__(self, scope: Construct, *, place: Deployment) -> None:
        super().__init__(
            scope,
            place.stack,
            env=Environment(account=place.account, region=place.region),
            description=f"Triton Fleet {place.environment}: what its endpoints share",
            termination_protection=True,
            permissions_boundary=bounded_by(place),
        )
        declare_foundation(self, place)
