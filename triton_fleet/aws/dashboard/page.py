"""The page of a deployed dashboard: its widgets in their grid, with all that it needs inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.dashboard.body import Box, Graph, Line, LogTable, Text, Widget, fetch_lines, read_body
from triton_fleet.aws.dashboard.figure import FONT, draw_figure
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.findings import CannotRunError
from triton_fleet.product.tools import npm_package
from triton_fleet.spec.environment import LOCAL

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_cloudwatch.client import CloudWatchClient

SHORTEST = timedelta(minutes=10)
"""The time axis shows at least that much, however new the data is."""
MARGIN = timedelta(minutes=1)

NO_MEASUREMENT = "Not measured on this machine"

STYLE = f"""
:root {{ color-scheme: light; overflow-y: scroll; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; padding: 24px; background: #f3f4f6; color: #111827; font: 14px/1.5 {FONT}; }}
header, main {{ max-width: 1600px; margin: 0 auto; }}
h1 {{ margin: 0; font-size: 22px; line-height: 1.3; }}
header p {{ margin: 2px 0 0; color: #4b5563; overflow-wrap: anywhere; }}
main {{ display: grid; grid-template-columns: repeat(24, minmax(0, 1fr)); grid-auto-rows: 34px; gap: 12px;
  margin-top: 20px; }}
section {{ display: flex; flex-direction: column; min-width: 0; padding: 12px 14px 10px; background: #fff;
  border: 1px solid #e5e7eb; border-radius: 8px; }}
h2 {{ margin: 0 0 6px; font-size: 14px; font-weight: 600; }}
.text {{ justify-content: end; padding: 0 2px; background: none; border: none; }}
.text h2 {{ margin: 0; font-size: 18px; }}
.text p {{ margin: 0; color: #4b5563; overflow-wrap: anywhere; }}
.plot {{ flex: 1; min-width: 0; min-height: 0; }}
.figure {{ width: 100%; height: 100%; }}
.empty {{ flex: 1; display: flex; align-items: center; justify-content: center; margin: 0; color: #6b7280;
  background: #f9fafb; border-radius: 6px; }}
.absent {{ margin: 0 0 4px; color: #6b7280; }}
@media (max-width: 900px) {{
  body {{ padding: 12px; }}
  main {{ display: block; }}
  section {{ height: 280px; margin-bottom: 12px; }}
  section:has(> .empty) {{ height: 110px; }}
  .text {{ height: auto; margin: 20px 0 8px; }}
}}
"""
# The page may do nothing but draw: whatever is in its data, no request leaves it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


@dataclass(frozen=True)
class Page:
    """A dashboard with its data; times are in UTC."""

    endpoint: str
    dashboard: str
    location: str
    is_local: bool
    widgets: Sequence[tuple[Widget, Sequence[Line]]]
    start: datetime
    end: datetime
    plotly_script: str


def draw_page(page: Page) -> str:
    """The page as one HTML text."""
    first = _first(page)
    axis_start = _shown_from(page, first)
    sections = "\n".join(
        _section(page, widget, lines, axis_start, f"graph{number}")
        for number, (widget, lines) in enumerate(page.widgets)
    )
    source = "the embedded CloudWatch" if page.is_local else "CloudWatch"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<title>{escape(page.endpoint)} - dashboard</title>
<style>{STYLE}</style>
<script>{page.plotly_script}</script>
</head>
<body>
<header>
<h1>{escape(page.endpoint)}</h1>
<p>{escape(_range(page, first))}</p>
<p>Dashboard {escape(page.dashboard)} of {source}, {escape(page.location)};
drawn on {page.end:%d %B %Y} at {page.end:%H:%M:%S} UTC</p>
</header>
<main>
{sections}
</main>
</body>
</html>
"""


def _section(page: Page, widget: Widget, lines: Sequence[Line], start: datetime, id: str) -> str:
    match widget:
        case Text():
            return f'<section class="text" style="{_place(widget.box)}">\n{_html(widget.markdown)}</section>'
        case LogTable():
            content = _empty(_log(page))
        case Graph() if any(line.values for line in lines):
            content = f'<div class="plot">{draw_figure(widget, lines, start, page.end, id)}</div>'
        case Graph(annotations=()):
            content = _empty(_absent(lines))
        case _:
            # What its values are to be compared with can be read without them.
            plot = draw_figure(widget, [], start, page.end, id)
            content = f'<p class="absent">{_absent(lines)}</p>\n<div class="plot">{plot}</div>'
    return f'<section style="{_place(widget.box)}">\n<h2>{escape(widget.title)}</h2>\n{content}\n</section>'


def _log(page: Page) -> str:
    if page.is_local:
        command = f"<code>fleet local logs {escape(page.endpoint)}</code>"
        return f"Logs are not kept in the embedded AWS: {command} prints them"
    return "The CloudWatch console shows this table: each view is a paid query of the log"


def _empty(text: str) -> str:
    # One element in the flex box: it takes each run of text for an item, and the spaces between them away.
    return f'<p class="empty"><span>{text}</span></p>'


def _absent(lines: Sequence[Line]) -> str:
    measurable = not lines or any(line.measurable for line in lines)
    return "No data in this period" if measurable else NO_MEASUREMENT


def _place(box: Box) -> str:
    return f"grid-area: {box.y + 1} / {box.x + 1} / span {box.height} / span {box.width}"


def _html(markdown: str) -> str:
    """Markdown as HTML; markup in it is text."""
    from markdown_it import MarkdownIt  # a part of the extra for AWS, which the command may lack

    html: str = MarkdownIt("commonmark", {"html": False}).render(markdown)
    return html


def _first(page: Page) -> datetime | None:
    times = [min(line.values) for _, lines in page.widgets for line in lines if line.values]
    return datetime.fromtimestamp(min(times), page.end.tzinfo) if times else None


def _shown_from(page: Page, first: datetime | None) -> datetime:
    """Where the time axis begins: shortly before the first data, as a local fleet rarely runs for hours."""
    return max(page.start, min((first or page.start) - MARGIN, page.end - SHORTEST))


def _range(page: Page, first: datetime | None) -> str:
    hours = (page.end - page.start) / timedelta(hours=1)
    range_text = "The last hour" if hours == 1 else f"The last {hours:g} hours"
    if first is None:
        return f"{range_text}: no data"
    if first - MARGIN <= page.start:
        return f"{range_text}: {_moment(page.start, page.end)} to {page.end:%H:%M} UTC"
    return f"{range_text}; the first data is of {_moment(first, page.end)} UTC"


def _moment(moment: datetime, end: datetime) -> str:
    return f"{moment:%H:%M}" if moment.date() == end.date() else f"{moment:%d %B %H:%M}"


DASHBOARD_TYPE = "AWS::CloudWatch::Dashboard"
PLOTLY_PACKAGE = "plotly.js-basic-dist-min"
"""npm's package of the bundle for lines, a quarter of the whole; MIT licence."""


def draw_dashboard(access: Access, endpoint: str, stack: str, hours: float, root: Path) -> str:
    """The dashboard that a stack has deployed, over the last hours, as one HTML page that needs nothing else.

    plotly is that of the fleet in `root`.

    Raises:
        CannotRunError: plotly is not installed, the endpoint is not deployed, its dashboard holds what is not
            drawn here, or AWS refuses or does not answer.
    """
    plotly_file = npm_package(root, PLOTLY_PACKAGE, "plotly") / "plotly-basic.min.js"
    deployment, is_local = access.deployment, access.deployment.environment == LOCAL
    with aws_errors_as_findings():
        cloudwatch = access.client("cloudwatch")
        name = find_dashboard(access.client("cloudformation"), stack, deployment.environment)
        body = cloudwatch.get_dashboard(DashboardName=name)["DashboardBody"]
        end = datetime.now(UTC)
        start = end - timedelta(hours=hours)
        page = Page(
            endpoint=endpoint,
            dashboard=name,
            location=f"account {deployment.account}, {deployment.region}",
            is_local=is_local,
            widgets=[
                (widget, _lines(widget, cloudwatch, start, end, is_local)) for widget in read_body(body)
            ],
            start=start,
            end=end,
            plotly_script=plotly_file.read_text("utf-8"),
        )
    return draw_page(page)


def _lines(
    widget: Widget, cloudwatch: CloudWatchClient, start: datetime, end: datetime, is_local: bool
) -> list[Line]:
    if not isinstance(widget, Graph):
        return []
    return fetch_lines(cloudwatch, widget, start, end, local=is_local)


def find_dashboard(cloudformation: CloudFormationClient, stack: str, environment: str) -> str:
    """The name of a stack's dashboard.

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
        location = "on this machine" if environment == LOCAL else f"in {environment}"
        raise CannotRunError(
            f"the stack {stack} is not deployed {location}", f"run `{deploy}` first"
        ) from error
    resources = [stack_resource for page in pages for stack_resource in page["StackResourceSummaries"]]
    names = [
        resource["PhysicalResourceId"] for resource in resources if resource["ResourceType"] == DASHBOARD_TYPE
    ]
    if not names:
        raise CannotRunError(f"the stack {stack} has no dashboard", f"run `{deploy}` again")
    return str(names[0])
