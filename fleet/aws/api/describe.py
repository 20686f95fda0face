"""What SageMaker says of an endpoint that may not be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import DescribeEndpointOutputTypeDef

NO_ENDPOINT = "Could not find endpoint"


def described_endpoint(sagemaker: SageMakerClient, name: str) -> DescribeEndpointOutputTypeDef | None:
    """DescribeEndpoint's answer; None where there is no such endpoint.

    Raises:
        ClientError: access is denied.
    """
    try:
        return sagemaker.describe_endpoint(EndpointName=name)
    except ClientError as error:
        if NO_ENDPOINT in error.response["Error"]["Message"]:
            return None
        raise
