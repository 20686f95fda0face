"""Deletes an endpoint's stack; no spec is needed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.calls import read_calls
from triton_fleet.aws.deploy.endpoint_wait import await_endpoint
from triton_fleet.aws.deploy.failures import failed_resources
from triton_fleet.aws.deploy.stack_lease import DESTROYS, StackLeases
from triton_fleet.aws.running_configuration import LiveEndpoint, endpoint_stacks, live_endpoint, unknown_stack
from triton_fleet.awsapi.errors import answered_at
from triton_fleet.awsapi.stack import LiveStack, settled_stack, stack_resources
from triton_fleet.endpoint.bucket_keys import prefix_of
from triton_fleet.findings import CannotRunError, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient


CALLS_PERIOD = timedelta(hours=1)
HOSTING = "AWS::SageMaker::"
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*")


@dataclass(frozen=True, kw_only=True)
class Deletion:
    """The resources that are deleted with an endpoint's stack, and the calls that it serves.

    Attributes:
        types: Its resource types, one for each resource.
        endpoint: None if it does not exist.
        calls: Of the last hour; None if CloudWatch cannot be read.
    """

    stack: LiveStack
    types: list[str]
    endpoint: LiveEndpoint | None
    calls: int | None = None

    @property
    def resources(self) -> str:
        """The resources in words, the endpoint first: `1 × endpoint, 1 × model, 7 × alarm`."""
        types = sorted(self.types, key=lambda type: (not type.startswith(HOSTING), _words(type)))
        return ", ".join(f"{count} × {words}" for words, count in Counter(map(_words, types)).items())


def plan_deletion(access: Access, name: str) -> Deletion | None:
    """The planned deletion, after an operation in progress has ended; None if it was destroyed before.

    Raises:
        FindingsError: no endpoint of this name was ever deployed here.
    """
    cloudformation = access.client("cloudformation")
    stacks = endpoint_stacks(cloudformation, access.deployment)
    stack = settled_stack(cloudformation, stacks[name]) if name in stacks else None
    if stack is None:
        if name not in stacks and not _has_artifacts(access, name):
            raise unknown_stack(access.deployment, name, stacks)
        return None
    types = [stack_resource["ResourceType"] for stack_resource in stack_resources(cloudformation, stack)]
    live = live_endpoint(access.client("sagemaker"), name)
    calls = _recent_calls(access, live) if live is not None else None
    return Deletion(stack=stack, types=types, endpoint=live, calls=calls)


def destroy(
    access: Access, deletion: Deletion, notice: Callable[[str], None], leases: StackLeases | None = None
) -> None:
    """Delete a stack and wait until it is gone; before, wait until SageMaker can delete its endpoint.

    `notice` is called with what is waited for. `leases` keep deploys of others apart; None on a laptop.

    Raises:
        FindingsError: a resource could not be deleted.
        CannotRunError: somebody has deployed the stack since this command began, or it could not be deleted
            for another reason.
    """
    with leases.lease(deletion.stack.name, DESTROYS) if leases else nullcontext() as other_terms:
        if leases and other_terms is not None and other_terms.action != DESTROYS:
            leases.require_newer(deletion.stack.name, other_terms)
        _delete(access, deletion, notice)


def _delete(access: Access, deletion: Deletion, notice: Callable[[str], None]) -> None:
    cloudformation, stack = access.client("cloudformation"), deletion.stack
    if deletion.endpoint is not None:
        await_endpoint(access, deletion.endpoint.name, notice)
    if _keeps_role(cloudformation, stack):
        notice("the stack keeps the endpoint's role for five minutes after it: SageMaker cleans up with it")
    cloudformation.delete_stack(StackName=stack.id)
    remainder = settled_stack(cloudformation, stack)
    if remainder is None:
        return
    hint = "remove what blocks the deletion, then run the command again"
    findings = failed_resources(cloudformation, remainder.id, remainder.name, hint)
    if findings:
        raise FindingsError(findings)
    raise CannotRunError(f"the stack {remainder.name} is in {remainder.status}: {remainder.reason}", hint)


def _keeps_role(cloudformation: CloudFormationClient, stack: LiveStack) -> bool:
    """Whether the scaling guard waits after the endpoint; False if the template cannot be read."""
    with suppress(ClientError):
        return "CleanupLooks" in str(cloudformation.get_template(StackName=stack.id)["TemplateBody"])
    return False


def _recent_calls(access: Access, endpoint: LiveEndpoint) -> int | None:
    """The invocations of the last hour; None if CloudWatch cannot be read."""
    try:
        end = answered_at(access.client("sts").get_caller_identity())
        cloudwatch = access.client("cloudwatch")
        return read_calls(cloudwatch, endpoint.name, endpoint.variants, end - CALLS_PERIOD, end).invocations
    except (ClientError, BotoCoreError):
        return None


def _words(type: str) -> str:
    """A resource type in words: `endpoint config` of `AWS::SageMaker::EndpointConfig`."""
    return " ".join(WORDS.findall(type.rpartition("::")[2])).lower()


def _has_artifacts(access: Access, name: str) -> bool:
    s3 = access.client("s3")
    try:
        artifacts = s3.list_objects_v2(Bucket=access.deployment.bucket, Prefix=prefix_of(name), MaxKeys=1)
    except s3.exceptions.NoSuchBucket:
        return False
    return artifacts["KeyCount"] > 0
