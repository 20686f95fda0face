"""The existing stacks of an environment's endpoints, with or without a spec."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from triton_fleet.awsapi.stack import LiveStack, all_stacks
from triton_fleet.endpoint.resolved_endpoint import stack_of
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.problems import did_you_mean

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient


def endpoint_stacks(cloudformation: CloudFormationClient, deployment: Deployment) -> dict[str, LiveStack]:
    """The environment's endpoint stacks by the endpoint's name, which is the end of the stack's name.

    Only the name identifies them: a stack in REVIEW_IN_PROGRESS has no tags.
    """
    prefix = stack_of(deployment, "")
    stacks = [stack for stack in all_stacks(cloudformation) if stack.name.startswith(prefix)]
    return {stack.name.removeprefix(prefix): stack for stack in stacks}


def unknown_stack(deployment: Deployment, name: str, deployed: Iterable[str]) -> FindingsError:
    """The error for a name that is not deployed, with the closest deployed name."""
    message = f"no endpoint {name!r} is deployed in {deployment.environment!r}"
    return FindingsError([Finding(code="FL606", message=message, hint=did_you_mean(name, list(deployed)))])
