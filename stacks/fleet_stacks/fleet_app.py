"""One environment's fleet as a CDK app."""

from __future__ import annotations

from aws_cdk import App, Tags, Validations
from cdk_nag import AwsSolutionsChecks

from fleet.endpoint.resolved_endpoint import ResolvedFleet
from fleet_stacks.stacks import EndpointStack, FoundationStack


def add_fleet(app: App, fleet: ResolvedFleet) -> None:
    """Add Foundation and a stack for each endpoint, tagged, with cdk-nag's AwsSolutions as synth's gate."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    for name, value in fleet.place.tags.items():
        Tags.of(app).add(name, value)
    FoundationStack(app, place=fleet.place)
    for endpoint in fleet.endpoints:
        stack = EndpointStack(app, endpoint=endpoint)
        for name, value in endpoint.tags.items():
            Tags.of(stack).add(name, value)
