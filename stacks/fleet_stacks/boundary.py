"""What bounds the roles of a stack."""

from __future__ import annotations

from aws_cdk import PermissionsBoundary

from fleet.endpoint.resolved_endpoint import Deployment


def bounded_by(place: Deployment) -> PermissionsBoundary | None:
    """The environment's permissions boundary, for every role of a stack, those of the CDK's functions too."""
    arn = place.permissions_boundary
    return PermissionsBoundary.from_arn(arn) if arn else None
