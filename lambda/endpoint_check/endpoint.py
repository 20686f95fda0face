"""Whether the endpoint runs the configuration that the stack has given it."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from .errors import CheckError, NotYet
from .passing import tried

UNDER_WAY = {"Creating", "Updating", "SystemUpdating", "RollingBack"}
"""Source: SageMaker API reference, DescribeEndpoint, EndpointStatus."""
SCALED = {"Updating", "SystemUpdating"}
"""Also while instances come and go, or are maintained.

Source: the same; PendingDeploymentSummary is there while an endpoint is given another configuration.
"""
IN_SERVICE = "InService"


def see_in_service(sagemaker: Any, endpoint: str, config: str) -> None:
    """See that the endpoint serves the configuration; that it is scaled meanwhile does not matter.

    Raises:
        NotYet: it is under way, or cannot be described at the moment.
        CheckError: it failed, there is none, or it runs another configuration.
    """
    found = _described(sagemaker, endpoint)
    status, runs = found["EndpointStatus"], found["EndpointConfigName"]
    why = f" SageMaker reports: {found['FailureReason']}" if found.get("FailureReason") else ""
    # SageMaker writes names in ARNs in lower case.
    is_wanted = runs.lower() == config.lower()
    if is_wanted and status in SCALED and "PendingDeploymentSummary" not in found:
        return
    if status in UNDER_WAY:
        raise NotYet(f"endpoint {endpoint} is {status}")
    if status != IN_SERVICE:
        raise CheckError(
            f"Endpoint {endpoint} is {status}.{why}",
            f"See the container's log group /aws/sagemaker/Endpoints/{endpoint}, remove the cause, and deploy"
            " again.",
        )
    if not is_wanted:
        raise CheckError(
            f"Endpoint {endpoint} runs the configuration {runs} instead of {config}:"
            f" SageMaker rolled the update back, or somebody changed the endpoint meanwhile.{why}",
            f"See its alarms, its log group /aws/sagemaker/Endpoints/{endpoint} and `aws sagemaker"
            f" describe-endpoint --endpoint-name {endpoint}`, remove the cause, and deploy again.",
        )


def _described(sagemaker: Any, endpoint: str) -> dict[str, Any]:
    what = f"endpoint {endpoint} cannot be described"
    try:
        with tried(what):
            found: dict[str, Any] = sagemaker.describe_endpoint(EndpointName=endpoint)
    except ClientError as error:
        if "could not find" in error.response["Error"].get("Message", "").lower():
            raise CheckError(
                f"Endpoint {endpoint} does not exist.",
                "It was deleted outside its stack: destroy the stack, and deploy it again.",
            ) from error
        raise
    if "EndpointStatus" not in found:  # so botocore takes an answer that breaks off
        raise NotYet(f"{what}: the answer is empty")
    return found
