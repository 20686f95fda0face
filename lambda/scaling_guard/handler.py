"""The functions' entries: `handler` begins, and `is_complete` does the work, as often as it takes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3

from .errors import GuardError, NotYet
from .guard import Guard, tidy
from .request import Request, physical_id
from .saved import Looks, Saved
from .stack import rolls_back, stack_status
from .variant import Endpoint

_MOST = 1500
"""Characters of a sentence; CloudFormation takes 4,096 bytes of an answer with everything around it."""
_GOING = ("DELETE_", "ROLLBACK_")
"""How the status of a stack begins that is deleted, or whose creation is taken back."""

Client = Callable[[str], Any]
_boto3_client: Any = boto3.client


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Say until when `is_complete` may wait; the environment has the seconds as SECONDS."""
    return {"PhysicalResourceId": physical_id(event), "Deadline": time.time() + float(environ["SECONDS"])}


def is_complete(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Do the work, as the CDK's `custom_resources.Provider` asks; `Did` of the answer is a sentence.

    The environment names the bucket of saved scalings as BUCKET.

    Raises:
        GuardError: the scaling is not as it has to be, and the stack neither rolls back nor is deleted.
    """
    is_last = time.time() >= event["Deadline"]
    try:
        did = _done(event, client, environ, is_last=is_last)
    except NotYet as error:
        print(f"Waiting: {error}")
        return {"IsComplete": False}
    except Exception as error:
        guard_error = error if isinstance(error, GuardError) else _unforeseen(error, event)
        is_deletion = event["RequestType"] == "Delete"
        if not is_deletion and not rolls_back(client("cloudformation"), event["StackId"]):
            raise GuardError(guard_error.what[:_MOST], guard_error.remedy) from error
        reason = "the resource is deleted" if is_deletion else "the stack rolls back"
        did = f"Reported only, because {reason}: {guard_error.what}"
    print(did)
    return {"IsComplete": True, "Data": {"Did": did[:_MOST]}}


def _done(event: Mapping[str, Any], client: Client, environ: Mapping[str, str], *, is_last: bool) -> str:
    request = Request.of(event)
    saved = Saved(client("s3"), environ["BUCKET"], request.variant)
    if event["RequestType"] == "Create":
        saved.forget()
        if request.cleanup_looks:
            Looks(client("s3"), environ["BUCKET"], request.variant).forget()
        return f"Nothing to do: {request.variant} is new to this stack."
    status = stack_status(client("cloudformation"), event["StackId"])
    is_deletion = event["RequestType"] == "Delete"
    if is_deletion and _is_ordinary_clean_up(status) and not request.cleanup_looks:
        return tidy(saved)
    guard = Guard(
        request,
        client("sagemaker"),
        client("application-autoscaling"),
        saved,
        rolls_back="ROLLBACK" in status,
        is_last=is_last,
    )
    if not is_deletion:
        return guard.align()
    endpoint = Endpoint.described(client("sagemaker"), request.variant.endpoint)
    if endpoint is not None and status.startswith(_GOING):
        # CloudFormation deletes the endpoint next, which SageMaker refuses while it is under way.
        if endpoint.is_under_way and not is_last:
            raise NotYet(f"{endpoint}, and can be deleted when it is not")
        return "Nothing to do: the scaling is deleted with its endpoint."
    if endpoint is None:
        saved.forget()
        return _cleaned_up(request, Looks(client("s3"), environ["BUCKET"], request.variant), is_last=is_last)
    return guard.finish() if "ROLLBACK" in status else tidy(saved)


def _is_ordinary_clean_up(status: str) -> bool:
    return status.startswith("UPDATE_") and "ROLLBACK" not in status


def _cleaned_up(request: Request, looks: Looks, *, is_last: bool) -> str:
    """Wait while SageMaker cleans up after an endpoint, for which it needs the endpoint's role."""
    if request.cleanup_looks:
        count = looks.count()
        if count <= request.cleanup_looks and not is_last:
            raise NotYet(
                f"SageMaker removes network interfaces and key grants of endpoint {request.variant.endpoint}"
                f" with its role; look {count} of {request.cleanup_looks}"
            )
        looks.forget()
    return f"Endpoint {request.variant.endpoint} is deleted, and its scaling with it."


def _unforeseen(error: Exception, event: Mapping[str, Any]) -> GuardError:
    properties = event["ResourceProperties"]
    return GuardError(
        f"The scaling of endpoint {properties.get('EndpointName')} could not be adapted to "
        f"{properties.get('InstanceType')}: {type(error).__name__}: {error}.",
        "It is still registered, or saved below scaling-guard/ in the artifact bucket, or both: remove the "
        "cause and deploy again.",
    )
