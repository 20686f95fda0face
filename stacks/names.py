"""Names of stacks, and where they are deployed."""

from __future__ import annotations

from aws_cdk import Environment

from fleet.resolve.endpoint import Place


def foundation_stack(place: Place) -> str:
    """The Foundation stack's name; no endpoint's stack can have it, as environments have no hyphen."""
    return f"triton-fleet-{place.environment}"


def endpoint_stack(place: Place, endpoint: str) -> str:
    """The name of an endpoint's stack."""
    return f"{foundation_stack(place)}-{endpoint}"


def environment_of(place: Place) -> Environment:
    """The account and region of a stack, as literals: synth asks nobody."""
    return Environment(account=place.account, region=place.region)
