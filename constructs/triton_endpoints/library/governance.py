"""What an environment puts on everything below a construct: its tags, and the boundary of its roles."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Tags
from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_fleet.spec.deployment import Deployment

OWN_PREFIX = "triton-fleet:"
OWN_PRIORITY = 1000
"""Above what the CDK gives to tags that are added (100) and removed (200) by the app."""


def tag(construct: Construct, tags: Mapping[str, str]) -> None:
    """Tag everything below a construct; of the app's own keys the app's values win below it, of ours ours."""
    for name, value in tags.items():
        if name.startswith(OWN_PREFIX):
            Tags.of(construct).add(name, value, priority=OWN_PRIORITY)
        else:
            Tags.of(construct).add(name, value)


def bound_roles(construct: Construct, deployment: Deployment) -> None:
    """Bound every role below a construct, where the environment has a boundary."""
    if deployment.permissions_boundary:
        policy = iam.ManagedPolicy.from_managed_policy_arn(
            construct, "Boundary", deployment.permissions_boundary
        )
        iam.PermissionsBoundary.of(construct).apply(policy)
