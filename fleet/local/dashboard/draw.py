"""From a deployed endpoint to the page of its dashboard."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime, timedelta

from fleet.aws.api.emulator import local_session
from fleet.findings import CannotRunError
from fleet.local.dashboard.body import Graph, read_body
from fleet.local.dashboard.deployment import find_dashboard
from fleet.local.dashboard.lines import fetch_lines
from fleet.local.state import Supervisor


def draw_dashboard(supervisor: Supervisor, endpoint: str, stack: str, hours: float) -> str:
    """The dashboard that a stack has deployed, over the last hours, as one HTML page that needs nothing else.

    Raises:
        CannotRunError: the endpoint is not deployed, its dashboard holds what is not drawn here, or the
            library that draws is not installed.
    """
    if importlib.util.find_spec("plotly") is None:
        raise CannotRunError("plotly, which draws the dashboard, is not installed", "run `make setup`")
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
