"""`fleet report`: what a change does in AWS, what it costs and risks, for a pull request."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from triton_fleet.cli.arguments import Today, policy_day
from triton_fleet.core.folders import project_root
from triton_fleet.printers.lines import print_bytes, print_json
from triton_fleet.review.document import report_document
from triton_fleet.review.fleet_review import fleet_review
from triton_fleet.review.markdown import markdown
from triton_fleet.review.page import page

MIN_LIMIT, DEFAULT_LIMIT = 1_000, 65_536
"""Bytes; GitHub takes 65,536 characters in a comment, GitLab 1,000,000, Bitbucket 32,768."""


class ReportFormat(StrEnum):
    """Form of the report."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


def report(
    base: Annotated[
        str,
        typer.Option(
            "--base", metavar="REF", help="The branch, tag or commit to compare with, such as origin/main."
        ),
    ],
    env: Annotated[
        list[str] | None,
        typer.Option("--env", help="Environment name; repeatable. Default: all except local."),
    ] = None,
    format: Annotated[
        ReportFormat, typer.Option("--format", help="A Markdown comment, an HTML page with charts, or JSON.")
    ] = ReportFormat.MARKDOWN,
    limit: Annotated[
        int,
        typer.Option(
            metavar="BYTES", help=f"Maximum size of the Markdown, at least {MIN_LIMIT}; 0: no limit."
        ),
    ] = DEFAULT_LIMIT,
    with_upgrade: Annotated[
        bool,
        typer.Option(
            "--with-upgrade",
            help="Where requirements.txt pins another version of this product, also install that of REF and"
            " show what the upgrade changes in templates.",
        ),
    ] = False,
    today: Today = None,
) -> None:
    """Report what a change does when deployed, for its reviewers.

    Compares the work tree with its merge base with REF: resources, cost and risks. Does not call AWS.
    """
    if limit and limit < MIN_LIMIT:
        raise typer.BadParameter(f"write at least {MIN_LIMIT}, or 0", param_hint="--limit")
    review = fleet_review(project_root(Path.cwd()), base, env or (), policy_day(today), installs=with_upgrade)
    if format is ReportFormat.JSON:
        print_json(report_document(review))
        return
    text = page(review) if format is ReportFormat.HTML else markdown(review, limit)
    print_bytes(text.encode())
