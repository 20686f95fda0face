"""SageMaker's description of an endpoint that may not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import DescribeEndpointOutputTypeDef

NO_ENDPOINT = "Could not find endpoint"


def described_endpoint(sagemaker: SageMakerClient, name: str) -> DescribeEndpointOutputTypeDef | None:
    """DescribeEndpoint's answer; None if the endpoint does not exist.

    Raises:
        ClientError: access is denied.
    """
    try:
        return sagemaker.describe_endpoint(EndpointName=name)
    except ClientError as error:
        if NO_ENDPOINT in error.response["Error"]["Message"]:
            return None
        raise
