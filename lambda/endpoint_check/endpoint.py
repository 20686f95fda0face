"""Checks that the endpoint runs the configuration of its stack."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import ClientError

from .errors import CheckError, PendingError
from .transient_errors import aws_call

TRANSITION_STATUSES = {"Creating", "Updating", "SystemUpdating", "RollingBack"}
"""Source: SageMaker API reference, DescribeEndpoint, EndpointStatus."""
SCALING_STATUSES = {"Updating", "SystemUpdating"}
"""Also while instances come and go, or are maintained.

Source: the same; PendingDeploymentSummary exists while an endpoint moves to another configuration.
"""
IN_SERVICE = "InService"


def require_in_service(sagemaker: Any, endpoint: str, config: str) -> None:
    """Require that the endpoint serves the configuration; scaling in progress does not matter.

    Raises:
        PendingError: it is under way, or cannot be described at the moment.
        CheckError: it failed, there is none, or it runs another configuration.
    """
    description = _describe(sagemaker, endpoint)
    status, runs = description["EndpointStatus"], description["EndpointConfigName"]
    reason = f" SageMaker reports: {description['FailureReason']}" if description.get("FailureReason") else ""
    # SageMaker writes names in ARNs in lower case.
    is_current = runs.lower() == config.lower()
    if is_current and status in SCALING_STATUSES and "PendingDeploymentSummary" not in description:
        return
    if status in TRANSITION_STATUSES:
        raise PendingError(f"endpoint {endpoint} is {status}")
    if status != IN_SERVICE:
        raise CheckError(
            f"Endpoint {endpoint} is {status}.{reason}",
            f"See the container's log group /aws/sagemaker/Endpoints/{endpoint}, remove the cause, and deploy"
            " again.",
        )
    if not is_current:
        raise CheckError(
            f"Endpoint {endpoint} runs the configuration {runs} instead of {config}:"
            f" SageMaker rolled the update back, or somebody changed the endpoint meanwhile.{reason}",
            f"See its alarms, its log group /aws/sagemaker/Endpoints/{endpoint} and `aws sagemaker"
            f" describe-endpoint --endpoint-name {endpoint}`, remove the cause, and deploy again.",
        )


def _describe(sagemaker: Any, endpoint: str) -> dict[str, Any]:
    purpose = f"endpoint {endpoint} cannot be described"
    try:
        with aws_call(purpose):
            description: dict[str, Any] = sagemaker.describe_endpoint(EndpointName=endpoint)
    except ClientError as error:
        if "could not find" in error.response["Error"].get("Message", "").lower():
            raise CheckError(
                f"Endpoint {endpoint} does not exist.",
                "It was deleted outside its stack: destroy the stack, and deploy it again.",
            ) from error
        raise
    if "EndpointStatus" not in description:  # how botocore reads an answer that breaks off
        raise PendingError(f"{purpose}: the answer is empty")
    return description
