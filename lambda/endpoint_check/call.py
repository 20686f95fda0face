"""Calls the endpoint, and separates transient refusals from final ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from .errors import CheckError, PendingError
from .transient_errors import aws_call

CALLER = "triton-fleet-check"
"""The inference id of all calls: data that is captured has it, and a local fleet counts none of them.

Source: SageMaker API reference, InvokeEndpoint, InferenceId.
"""
TRANSIENT_STATUSES = {0, 429, 502, 503, 504, 507}
"""Of the container: it did not answer in time, is busy, or lacks the memory until another model goes."""
_TOO_LARGE = 413


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The container's answer; `text` is its message where it refuses."""

    status: int
    body: bytes = b""
    content_type: str = ""
    text: str = ""


def call(
    runtime: Any,
    endpoint: str,
    purpose: str,
    *,
    body: bytes,
    content_type: str,
    target: str | None,
    attributes: str = "",
) -> Reply:
    """Invoke the endpoint, once.

    Args:
        runtime: A client of sagemaker-runtime.
        endpoint: Its name.
        purpose: The purpose of the call, with which errors begin.
        body: The body of the request.
        content_type: The content type of the body.
        target: The target model of a multi-model endpoint.
        attributes: Route and version of a shared container, as its router reads them.

    Raises:
        PendingError: it is refused for the moment.
        CheckError: SageMaker itself refuses it for good.
    """
    to_model = {} if target is None else {"TargetModel": target}
    if attributes:
        to_model["CustomAttributes"] = attributes
    try:
        with aws_call(purpose):
            answer = runtime.invoke_endpoint(
                EndpointName=endpoint,
                ContentType=content_type,
                Body=body,
                InferenceId=CALLER,
                **to_model,
            )
            return Reply(status=200, body=answer["Body"].read(), content_type=answer["ContentType"])
    except ClientError as error:
        return _refusal(error, purpose)


def _refusal(error: ClientError, purpose: str) -> Reply:
    response: Any = error.response
    code, message = response["Error"].get("Code", ""), response["Error"].get("Message", "")
    if code == "ModelError":
        status, text = response.get("OriginalStatusCode", 0), response.get("OriginalMessage", message)
        if status in TRANSIENT_STATUSES:
            raise PendingError(f"{purpose}: the model answers with status {status}: {text}") from error
        return Reply(status=status, text=text)
    remedy = "Check that the endpoint has what `samples` and `warm` of the spec name."
    if response.get("ResponseMetadata", {}).get("HTTPStatusCode") == _TOO_LARGE:
        remedy = "Give the sample inputs of a smaller shape; callers of the endpoint have the same limit."
    raise CheckError(f"{purpose}: SageMaker refuses the call with {code}: {message}.", remedy) from error
