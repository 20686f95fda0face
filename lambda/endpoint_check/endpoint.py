"""Whether the endpoint runs the configuration that the stack has given it."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from .errors import CheckError, NotYet

UNDER_WAY = {"Creating", "Updating", "SystemUpdating", "RollingBack"}
"""Source: SageMaker API reference, DescribeEndpoint, EndpointStatus."""
IN_SERVICE = "InService"


def see_in_service(sagemaker: Any, endpoint: str, config: str) -> None:
    """See that the endpoint is in service with the configuration.

    Raises:
        NotYet: it is under way.
        CheckError: it failed, there is none, or it runs another configuration.
    """
    found = _described(sagemaker, endpoint)
    status, runs = found["EndpointStatus"], found["EndpointConfigName"]
    why = f" SageMaker says: {found['FailureReason']}" if found.get("FailureReason") else ""
    if status in UNDER_WAY:
        raise NotYet(f"endpoint {endpoint} is {status}")
    if status != IN_SERVICE:
        raise CheckError(
            f"Endpoint {endpoint} is {status}.{why}",
            f"See the container's log group /aws/sagemaker/Endpoints/{endpoint}, remove the cause, and deploy"
            " again.",
        )
    # SageMaker writes names in ARNs in lower case.
    if runs.lower() != config.lower():
        raise CheckError(
            f"Endpoint {endpoint} is in service with the configuration {runs}, and not with {config}:"
            f" SageMaker has rolled the update back, or somebody has changed it meanwhile.{why}",
            f"See its alarms, its log group /aws/sagemaker/Endpoints/{endpoint} and `aws sagemaker"
            f" describe-endpoint --endpoint-name {endpoint}`, remove the cause, and deploy again.",
        )


def _described(sagemaker: Any, endpoint: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = sagemaker.describe_endpoint(EndpointName=endpoint)
    except ClientError as error:
        if "could not find" in error.response["Error"].get("Message", "").lower():
            raise CheckError(
                f"There is no endpoint {endpoint}.",
                "It was deleted past its stack: destroy the stack, and deploy it again.",
            ) from error
        raise
    return found
