"""The dashboard that an endpoint's stack has deployed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudwatch.client import CloudWatchClient

TYPE = "AWS::CloudWatch::Dashboard"


@dataclass(frozen=True)
class DeployedDashboard:
    """A dashboard's name and its body, which is JSON."""

    name: str
    body: str


def find_dashboard(
    cloudformation: CloudFormationClient, cloudwatch: CloudWatchClient, stack: str
) -> DeployedDashboard:
    """The dashboard of a stack.

    Raises:
        CannotRunError: the stack is not deployed, or has no dashboard.
    """
    try:
        pages = list(cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack))
    except ClientError as error:
        problem = f"the stack {stack} is not deployed on this machine: {error.response['Error']['Message']}"
        raise CannotRunError(problem, "run `fleet local up` first") from error
    resources = [each for page in pages for each in page["StackResourceSummaries"]]
    names = [each["PhysicalResourceId"] for each in resources if each["ResourceType"] == TYPE]
    if not names:
        raise CannotRunError(f"the stack {stack} has no dashboard", "run `fleet local up` again")
    body = cloudwatch.get_dashboard(DashboardName=names[0])["DashboardBody"]
    return DeployedDashboard(names[0], body)
