"""The function's entry."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import boto3

from .errors import GuardError
from .guard import align, finish
from .request import Request, physical_id
from .saved import Saved
from .stack import rolls_back

_MOST = 1500
"""Characters of a sentence; CloudFormation takes 4,096 bytes of an answer with everything around it."""

Client = Callable[[str], Any]
_boto3_client: Any = boto3.client


def handler(
    event: Mapping[str, Any],
    context: object,
    client: Client = _boto3_client,
    environ: Mapping[str, str] = os.environ,
) -> dict[str, Any]:
    """Answer an event of the CDK's `custom_resources.Provider`; `Did` of the answer is a sentence.

    The environment names the bucket of saved scalings as BUCKET.

    Raises:
        GuardError: the scaling is not as it has to be, and the stack does not roll back.
    """
    try:
        did = _done(event, client, environ)
    except Exception as error:
        told = error if isinstance(error, GuardError) else _unforeseen(error, event)
        if not rolls_back(client("cloudformation"), event["StackId"]):
            raise GuardError(told.what[:_MOST], told.remedy) from error
        did = f"Reported only, because the stack rolls back: {told.what}"
    print(did)
    return {"PhysicalResourceId": physical_id(event), "Data": {"Did": did[:_MOST]}}


def _done(event: Mapping[str, Any], client: Client, environ: Mapping[str, str]) -> str:
    is_deletion = event["RequestType"] == "Delete"
    if is_deletion and not rolls_back(client("cloudformation"), event["StackId"]):
        return "Nothing to do: the scaling is deleted with its endpoint."
    request = Request.of(event)
    saved = Saved(client("s3"), environ["BUCKET"], request.variant)
    if event["RequestType"] == "Create":
        saved.forget()
        return f"Nothing to do: {request.variant} is new to this stack."
    sagemaker, autoscaling = client("sagemaker"), client("application-autoscaling")
    if is_deletion:
        return finish(request.variant, sagemaker, autoscaling, saved)
    return align(request, sagemaker, autoscaling, saved)


def _unforeseen(error: Exception, event: Mapping[str, Any]) -> GuardError:
    properties = event["ResourceProperties"]
    return GuardError(
        f"The scaling of endpoint {properties.get('EndpointName')} could not be adapted to "
        f"{properties.get('InstanceType')}: {type(error).__name__}: {error}.",
        "It is still registered, or saved below scaling-guard/ in the artifact bucket, or both: remove the "
        "cause and deploy again.",
    )
