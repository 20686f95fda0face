"""Deletes an endpoint's stack; no spec is needed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.aws.access import Access
from fleet.aws.api.stack import LiveStack, settled_stack, stack_resources
from fleet.aws.deploy.endpoint_wait import await_endpoint
from fleet.aws.deploy.failures import failed_resources
from fleet.aws.fleet_stacks import endpoint_stacks, unknown_stack
from fleet.aws.running_configuration import LiveEndpoint, live_endpoint
from fleet.endpoint.object_keys import prefix_of
from fleet.findings import CannotRunError, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """What is deleted with an endpoint's stack: resources by type and physical name, and what it serves."""

    stack: LiveStack
    resources: list[tuple[str, str]]
    endpoint: LiveEndpoint | None


def plan_deletion(access: Access, name: str) -> Deletion | None:
    """What would be deleted, after an operation in progress has ended; None if it was destroyed before.

    Raises:
        FindingsError: no endpoint of this name was ever deployed here.
    """
    cloudformation = access.client("cloudformation")
    stacks = endpoint_stacks(cloudformation, access.place)
    stack = settled_stack(cloudformation, stacks[name]) if name in stacks else None
    if stack is None:
        if name not in stacks and not _has_artifacts(access, name):
            raise unknown_stack(access.place, name, stacks)
        return None
    resources = [
        (each["ResourceType"], each["PhysicalResourceId"]) for each in stack_resources(cloudformation, stack)
    ]
    live = live_endpoint(access.client("sagemaker"), name)
    return Deletion(stack=stack, resources=resources, endpoint=live)


def destroy(access: Access, deletion: Deletion, notice: Callable[[str], None]) -> None:
    """Delete a stack and wait until it is gone; before, wait until SageMaker can delete its endpoint.

    `notice` is called with what is waited for.

    Raises:
        FindingsError: a resource could not be deleted.
        CannotRunError: the stack could not be deleted for another reason.
    """
    cloudformation, stack = access.client("cloudformation"), deletion.stack
    if deletion.endpoint is not None:
        await_endpoint(access, deletion.endpoint.name, notice)
    if _keeps_role(cloudformation, stack):
        notice("the stack keeps the endpoint's role for five minutes after it: SageMaker cleans up with it")
    cloudformation.delete_stack(StackName=stack.id)
    left = settled_stack(cloudformation, stack)
    if left is None:
        return
    hint = "remove what blocks the deletion, then run the command again"
    findings = failed_resources(cloudformation, left.id, left.name, hint)
    if findings:
        raise FindingsError(findings)
    raise CannotRunError(f"the stack {left.name} is in {left.status}: {left.reason}", hint)


def _keeps_role(cloudformation: CloudFormationClient, stack: LiveStack) -> bool:
    """Whether the scaling guard waits after the endpoint; False if the template cannot be read."""
    with suppress(ClientError):
        return "CleanupLooks" in str(cloudformation.get_template(StackName=stack.id)["TemplateBody"])
    return False


def _has_artifacts(access: Access, name: str) -> bool:
    s3 = access.client("s3")
    try:
        found = s3.list_objects_v2(Bucket=access.place.bucket, Prefix=prefix_of(name), MaxKeys=1)
    except s3.exceptions.NoSuchBucket:
        return False
    return found["KeyCount"] > 0
