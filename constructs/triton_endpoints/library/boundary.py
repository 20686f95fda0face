"""The permissions boundary of an environment, on all roles below a construct."""

from __future__ import annotations

from aws_cdk import aws_iam as iam
from constructs import Construct

from fleet.endpoint.resolved_endpoint import Deployment


def bound_roles(construct: Construct, place: Deployment) -> None:
    """Bound every role below a construct, where the environment has a boundary."""
    if place.permissions_boundary:
        policy = iam.ManagedPolicy.from_managed_policy_arn(construct, "Boundary", place.permissions_boundary)
        iam.PermissionsBoundary.of(construct).apply(policy)
