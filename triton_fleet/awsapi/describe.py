"""SageMaker's descriptions of what may not exist, and the names by which other services know variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import DescribeEndpointOutputTypeDef

UNDER_WAY = ("Creating", "Updating", "SystemUpdating", "RollingBack")
"""Statuses of an endpoint that changes and stays. Source: SageMaker API reference, DescribeEndpoint."""
STATUSES_IN_PROGRESS = (*UNDER_WAY, "Deleting")
"""Statuses in which SageMaker refuses every change. Source: SageMaker API reference, EndpointSummary."""

OF_VARIANTS: Any = {
    "ServiceNamespace": "sagemaker",
    "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
}
"""The part that the scalable targets of variants have in common in Application Auto Scaling."""


def scalable_id(endpoint: str, variant: str) -> str:
    """The resource id by which Application Auto Scaling knows a variant."""
    return f"endpoint/{endpoint}/variant/{variant}"


def is_missing(error: ClientError, kind: str = "") -> bool:
    """Whether SageMaker has refused a call since something does not exist.

    Args:
        error: The refusal.
        kind: What it has to be, such as `endpoint configuration`; by default anything.
    """
    return f"Could not find {kind}".rstrip() in error.response["Error"]["Message"]


def described_endpoint(sagemaker: SageMakerClient, name: str) -> DescribeEndpointOutputTypeDef | None:
    """DescribeEndpoint's answer; None if the endpoint does not exist.

    Raises:
        ClientError: access is denied.
    """
    try:
        return sagemaker.describe_endpoint(EndpointName=name)
    except ClientError as error:
        if is_missing(error, "endpoint"):
            return None
        raise
