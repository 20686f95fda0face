"""A call of the endpoint, and which of its refusals pass by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from .errors import CheckError, NotYet
from .passing import tried

CALLER = "triton-fleet-check"
"""The inference id of all calls: data that is captured has it, and a local fleet counts none of them.

Source: SageMaker API reference, InvokeEndpoint, InferenceId.
"""
PASSING_STATUS = {0, 429, 502, 503, 504, 507}
"""Of the container: it did not answer in time, is busy, or lacks the memory until another model goes."""
_TOO_LARGE = 413


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The container's answer; `said` is its words where it refuses."""

    status: int
    body: bytes = b""
    content_type: str = ""
    said: str = ""


def call(
    runtime: Any,
    endpoint: str,
    what: str,
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
        what: What the call is for, as errors begin.
        body: What is sent.
        content_type: Of what kind that is.
        target: The target model of a multi-model endpoint.
        attributes: Route and version of a shared container, as its router reads them.

    Raises:
        NotYet: it is refused for the moment.
        CheckError: SageMaker itself refuses it for good.
    """
    to_model = {} if target is None else {"TargetModel": target}
    if attributes:
        to_model["CustomAttributes"] = attributes
    try:
        with tried(what):
            answer = runtime.invoke_endpoint(
                EndpointName=endpoint,
                ContentType=content_type,
                Body=body,
                InferenceId=CALLER,
                **to_model,
            )
            return Reply(status=200, body=answer["Body"].read(), content_type=answer["ContentType"])
    except ClientError as error:
        return _refused(error, what)


def _refused(error: ClientError, what: str) -> Reply:
    said: Any = error.response
    code, message = said["Error"].get("Code", ""), said["Error"].get("Message", "")
    if code == "ModelError":
        status, words = said.get("OriginalStatusCode", 0), said.get("OriginalMessage", message)
        if status in PASSING_STATUS:
            raise NotYet(f"{what}: the model answers with status {status}: {words}") from error
        return Reply(status=status, said=words)
    remedy = "Check that the endpoint has what `samples` and `warm` of the spec name."
    if said.get("ResponseMetadata", {}).get("HTTPStatusCode") == _TOO_LARGE:
        remedy = "Give the sample inputs of a smaller shape; callers of the endpoint have the same limit."
    raise CheckError(f"{what}: SageMaker refuses the call with {code}: {message}.", remedy) from error
