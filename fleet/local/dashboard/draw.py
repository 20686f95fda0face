"""From a deployed endpoint to the page of its dashboard."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.aws.api.emulator import local_session
from fleet.findings import CannotRunError
from fleet.local.dashboard.body import Graph, read_body
from fleet.local.dashboard.lines import fetch_lines
from fleet.local.packages import GET_LOCAL
from fleet.local.state import Supervisor


def draw_dashboard(supervisor: Supervisor, endpoint: str, stack: str, hours: float) -> str:
    """The dashboard that a stack has deployed, over the last hours, as one HTML page that needs nothing else.

    Raises:
        CannotRunError: the endpoint is not deployed, its dashboard holds what is not drawn here, or the
            library that draws is not installed.
    """
    if importlib.util.find_spec("plotly") is None:
        raise CannotRunError("plotly, which draws the dashboard, is not installed", GET_LOCAL)
    from fleet.local.dashboard.page import Page, draw_page

    session = local_session(supervisor.region, supervisor.keys)
    cloudwatch = session.client("cloudwatch", endpoint_url=supervisor.url)
    cloudformation = session.client("cloudformation", endpoint_url=supervisor.url)
    deployed = find_dashboard(cloudformation, cloudwatch, stack)
    end = datetime.now(UTC)
    start = end - timedelta(hours=hours)
    page = Page(
        endpoint=endpoint,
        dashboard=deployed.name,
        place=f"account {supervisor.account}, {supervisor.region}",
        widgets=[
            (widget, fetch_lines(cloudwatch, widget, start, end) if isinstance(widget, Graph) else [])
            for widget in read_body(deployed.body)
        ],
        start=start,
        end=end,
    )
    return draw_page(page)


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
