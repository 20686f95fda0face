"""The stacks of an environment's endpoints, as they are there now: with or without a spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from fleet.aws.api.stack import LiveStack, all_stacks
from fleet.endpoint.resolved_endpoint import Deployment, stack_of
from fleet.findings import Finding, FindingsError
from fleet.spec.problems import did_you_mean

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient


def endpoint_stacks(cloudformation: CloudFormationClient, place: Deployment) -> dict[str, LiveStack]:
    """The environment's endpoint stacks by the endpoint's name, which is the end of the stack's name.

    The name alone tells: CloudFormation knows no tags of a stack that was planned and never begun.
    """
    prefix = stack_of(place, "")
    stacks = [stack for stack in all_stacks(cloudformation) if stack.name.startswith(prefix)]
    return {stack.name.removeprefix(prefix): stack for stack in stacks}


def unknown_stack(place: Deployment, name: str, deployed: Iterable[str]) -> FindingsError:
    """The refusal of a name under which nothing is deployed, with the one that was perhaps meant."""
    message = f"no endpoint {name!r} is deployed in {place.environment!r}"
    return FindingsError([Finding(code="FL606", message=message, hint=did_you_mean(name, list(deployed)))])
