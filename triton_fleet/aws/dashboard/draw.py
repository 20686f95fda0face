"""From a deployed endpoint to the page of its dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.dashboard.body import Graph, read_body
from triton_fleet.aws.dashboard.lines import fetch_lines
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.findings import CannotRunError
from triton_fleet.product.tools import npm_package
from triton_fleet.spec.environment import LOCAL

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudwatch.client import CloudWatchClient

TYPE = "AWS::CloudWatch::Dashboard"
PLOTLY = "plotly.js-basic-dist-min"
"""npm's package of the bundle for lines, a quarter of the whole; MIT licence."""


def draw_dashboard(access: Access, endpoint: str, stack: str, hours: float, root: Path) -> str:
    """The dashboard that a stack has deployed, over the last hours, as one HTML page that needs nothing else.

    plotly is that of the fleet in `root`.

    Raises:
        CannotRunError: plotly is not installed, the endpoint is not deployed, its dashboard holds what is not
            drawn here, or AWS refuses or does not answer.
    """
    from triton_fleet.aws.dashboard.page import Page, draw_page

    plotly = npm_package(root, PLOTLY, "plotly") / "plotly-basic.min.js"
    deployment, is_local = access.deployment, access.deployment.environment == LOCAL
    with aws_errors_as_findings():
        cloudwatch = access.client("cloudwatch")
        deployed = find_dashboard(access.client("cloudformation"), cloudwatch, stack, deployment.environment)
        end = datetime.now(UTC)
        start = end - timedelta(hours=hours)
        page = Page(
            endpoint=endpoint,
            dashboard=deployed.name,
            place=f"account {deployment.account}, {deployment.region}",
            is_local=is_local,
            widgets=[
                (
                    widget,
                    fetch_lines(cloudwatch, widget, start, end, local=is_local)
                    if isinstance(widget, Graph)
                    else [],
                )
                for widget in read_body(deployed.body)
            ],
            start=start,
            end=end,
            plotly=plotly.read_text("utf-8"),
        )
    return draw_page(page)


@dataclass(frozen=True)
class DeployedDashboard:
    """A dashboard's name and its body, which is JSON."""

    name: str
    body: str


def find_dashboard(
    cloudformation: CloudFormationClient, cloudwatch: CloudWatchClient, stack: str, environment: str
) -> DeployedDashboard:
    """The dashboard of a stack.

    Raises:
        CannotRunError: the stack is not deployed, or has no dashboard.
        ClientError: AWS refuses the caller.
    """
    deploy = "fleet local up" if environment == LOCAL else f"fleet deploy --env {environment}"
    try:
        pages = list(cloudformation.get_paginator("list_stack_resources").paginate(StackName=stack))
    except ClientError as error:
        if "does not exist" not in error.response["Error"]["Message"]:
            raise
        where = "on this machine" if environment == LOCAL else f"in {environment}"
        raise CannotRunError(f"the stack {stack} is not deployed {where}", f"run `{deploy}` first") from error
    resources = [each for page in pages for each in page["StackResourceSummaries"]]
    names = [resource["PhysicalResourceId"] for resource in resources if resource["ResourceType"] == TYPE]
    if not names:
        raise CannotRunError(f"the stack {stack} has no dashboard", f"run `{deploy}` again")
    body = cloudwatch.get_dashboard(DashboardName=names[0])["DashboardBody"]
    return DeployedDashboard(names[0], body)
