"""`fleet preflight`: checks before a deploy whether an account is ready for the specs and locks."""

from __future__ import annotations

import sys
from functools import partial
from typing import Annotated

import typer
from rich.text import Text

from triton_fleet.aws.preflight.checks import preflight as look
from triton_fleet.aws.preflight.subject import CheckResult, Subject
from triton_fleet.cli.arguments import Endpoints, Env, Profile
from triton_fleet.cli.aws_access import access_to
from triton_fleet.cli.current_fleet import current_fleet
from triton_fleet.cli.selection import chosen_project
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.exits import INPUT_IS_WRONG
from triton_fleet.findings import Severity
from triton_fleet.local.limitations import image_limits
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.formats import Format, print_findings
from triton_fleet.printers.sanitizer import indent_lines

SIGNS = {None: ("✓", "green"), Severity.WARNING: ("!", "yellow bold"), Severity.ERROR: ("✗", "red bold")}


def preflight(
    env: Env,
    endpoints: Endpoints = None,
    profile: Profile = None,
    format: Annotated[
        Format, typer.Option("--format", help="Text, JSON, SARIF for code scanning, or GitHub annotations.")
    ] = Format.HUMAN,
) -> None:
    """Check that the account is ready for a deploy.

    Checks credentials, bootstrap, Foundation, quotas, images, networks, artifacts, endpoints and their
    alarms. Changes nothing. Exit code 1: a deploy or scaling would fail; 2: AWS did not answer.
    """
    console = OutputConsole()
    project = chosen_project(current_fleet(), env, endpoints, may_be_empty=format is not Format.HUMAN)
    if endpoints and not project.endpoints:
        print_findings([], format, project.root)
        return
    fleet = resolve_project(project)
    results = []
    limits = partial(image_limits, project, fleet, is_explicit=bool(endpoints))
    for result in look(Subject(project, fleet, access_to(project, profile), limits)):
        if format is Format.HUMAN:
            console.print(_line(result), soft_wrap=True)
        results.append(result)
    findings = [finding for result in results for finding in result.findings]
    print_findings(sorted(findings, key=lambda finding: finding.sort_key), format, project.root)
    if any(finding.severity is Severity.ERROR for finding in findings):
        sys.exit(INPUT_IS_WRONG)
    for result in results:
        if result.problem is not None:
            raise result.problem


def _line(result: CheckResult) -> Text:
    return Text.assemble(SIGNS[result.severity], indent_lines(f" {result.title}: {result.text}"))
