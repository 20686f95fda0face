"""The functions' entries: `handler` begins, and `is_complete` does the work, as often as it takes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from .backup_store import BackupStore, Looks
from .errors import GuardError, PendingError
from .guard import Guard, discard_backup, in_service
from .request import Request, physical_id
from .retry import is_final
from .stack import is_rollback, stack_status
from .variant import Endpoint

_MAX_CHARACTERS = 1500
"""Of a sentence; CloudFormation takes 4,096 bytes of an answer with everything around it."""
_DELETION_STATUSES = ("DELETE_", "ROLLBACK_")
"""Beginnings of the status of a stack that is deleted, or whose creation is rolled back."""

Client = Callable[[str], Any]
_boto3_client: Any = boto3.client


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Return the deadline of `is_complete`; the environment has the seconds until then as SECONDS.

    The framework adds the answer to the event, in which its physical id replaces the former one.
    """
    name = physical_id(event)
    return {
        "PhysicalResourceId": name,
        "IsReplaced": event["RequestType"] == "Update" and name != event["PhysicalResourceId"],
        "Deadline": time.time() + float(environ["SECONDS"]),
    }


def is_complete(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Do the work, as the CDK's `custom_resources.Provider` asks; `Summary` of the answer is a sentence.

    The environment names the bucket of backups as BUCKET.

    Raises:
        GuardError: the scaling is not as it has to be, and the stack neither rolls back nor is deleted.
    """
    is_last, status = time.time() >= event["Deadline"], ""
    try:
        if event["RequestType"] == "Create":
            summary = _create(event, client, environ)
        else:
            status = _status(event, client, is_last=is_last)
            summary = _work(event, client, environ, status, is_last=is_last)
    except PendingError as error:
        print(f"Waiting: {error}")
        return {"IsComplete": False}
    except Exception as error:
        if not is_last and _may_pass(error, status):
            print(f"Waiting: a call to AWS failed: {type(error).__name__}: {error}")
            return {"IsComplete": False}
        guard_error = error if isinstance(error, GuardError) else _unexpected_error(error, event, environ)
        is_deletion = event["RequestType"] == "Delete"
        if not is_deletion and not is_rollback(status):
            raise GuardError(guard_error.problem[:_MAX_CHARACTERS], guard_error.remedy) from error
        reason = "the resource is deleted" if is_deletion else "the stack rolls back"
        summary = f"Reported only, because {reason}: {guard_error.problem}"
    print(summary)
    return {"IsComplete": True, "Data": {"Summary": summary[:_MAX_CHARACTERS]}}


def _status(event: Mapping[str, Any], client: Client, *, is_last: bool) -> str:
    """The stack's status; empty, so that it is taken to go forward, if it could not be asked in time."""
    try:
        return stack_status(client("cloudformation"), event["StackId"])
    except (BotoCoreError, ClientError) as error:
        problem = f"the stack cannot be asked whether it rolls back: {error}"
        if not is_last:
            raise PendingError(problem) from error
        print(f"Gave up: {problem}")
        return ""


def _may_pass(error: Exception, status: str) -> bool:
    """Whether a later look may succeed; a rollback also waits for permissions, as no step follows it."""
    return isinstance(error, BotoCoreError | ClientError) and (is_rollback(status) or not is_final(error))


def _create(event: Mapping[str, Any], client: Client, environ: Mapping[str, str]) -> str:
    request = Request.of(event)
    BackupStore(client("s3"), environ["BUCKET"], request.variant).delete()
    if request.cleanup_looks:
        Looks(client("s3"), environ["BUCKET"], request.variant).delete()
    return f"Nothing to do: {request.variant} is new to this stack."


def _work(
    event: Mapping[str, Any], client: Client, environ: Mapping[str, str], status: str, *, is_last: bool
) -> str:
    request, minutes = Request.of(event), int(environ["SECONDS"]) // 60
    store = BackupStore(client("s3"), environ["BUCKET"], request.variant)
    is_deletion = event["RequestType"] == "Delete"
    if is_deletion and _is_ordinary_clean_up(status) and not request.cleanup_looks:
        return discard_backup(store)
    guard = Guard(
        request,
        client("sagemaker"),
        client("application-autoscaling"),
        store,
        rolls_back=is_rollback(status),
        is_replaced=bool(event.get("IsReplaced")),
        is_last=is_last,
        minutes=minutes,
    )
    if not is_deletion:
        return guard.align()
    endpoint = Endpoint.read(client("sagemaker"), request.variant.endpoint)
    if endpoint is not None and status.startswith(_DELETION_STATUSES):
        # CloudFormation deletes the endpoint next, which SageMaker refuses while it is under way.
        if endpoint.is_in_transition and not is_last:
            raise PendingError(f"{endpoint}, and can be deleted when it is not")
        if endpoint.is_in_transition:
            return (
                f"{endpoint}, for more than {minutes} minutes: SageMaker will refuse to delete it, and the "
                f"deletion of the stack will fail. {in_service(client('sagemaker'), endpoint.name)}, then "
                "delete the stack again."
            )
        return "Nothing to do: the scaling is deleted with its endpoint."
    if endpoint is None:
        store.delete()
        return _wait_for_cleanup(
            request, Looks(client("s3"), environ["BUCKET"], request.variant), is_last=is_last
        )
    return guard.finish() if is_rollback(status) else discard_backup(store)


def _is_ordinary_clean_up(status: str) -> bool:
    return status.startswith("UPDATE_") and not is_rollback(status)


def _wait_for_cleanup(request: Request, looks: Looks, *, is_last: bool) -> str:
    """Wait while SageMaker cleans up after an endpoint, for which it needs the endpoint's role."""
    if request.cleanup_looks:
        count = looks.count()
        if count <= request.cleanup_looks and not is_last:
            raise PendingError(
                f"SageMaker removes network interfaces and key grants of endpoint {request.variant.endpoint}"
                f" with its role; look {count} of {request.cleanup_looks}"
            )
        looks.delete()
    return f"Endpoint {request.variant.endpoint} is deleted, and its scaling with it."


def _unexpected_error(error: Exception, event: Mapping[str, Any], environ: Mapping[str, str]) -> GuardError:
    properties = event["ResourceProperties"]
    goal = properties.get("EndpointConfigName") or properties.get("InstanceType")
    return GuardError(
        f"The scaling of endpoint {properties.get('EndpointName')} could not be adapted to "
        f"{goal}: {type(error).__name__}: {error}.",
        f"It is still registered, perhaps suspended, or saved below s3://{environ['BUCKET']}/scaling-guard/, "
        "or both: remove the cause and deploy again.",
    )
