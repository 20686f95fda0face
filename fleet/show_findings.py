"""Findings as a person reads them: one line each, a hint below, the sum at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from fleet.findings import Finding, Severity

STYLE = {Severity.ERROR: "red bold", Severity.WARNING: "yellow bold"}


def show_findings(findings: Sequence[Finding]) -> None:
    """Print each finding on standard error, with its place relative to the working directory."""
    console = Console(stderr=True, highlight=False)
    for finding in findings:
        console.print(_line(finding), soft_wrap=True)
        if finding.hint:
            console.print(Text(f"  hint: {finding.hint}", style="dim"), soft_wrap=True)
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    console.print(
        Text(f"{errors} error{'s' * (errors != 1)}, {len(findings) - errors} warnings", style="bold")
    )


def _line(finding: Finding) -> Text:
    file = finding.file
    if file is not None and file.is_relative_to(Path.cwd()):
        finding = replace(finding, file=file.relative_to(Path.cwd()))
    place = f"{finding.place}: " if finding.place else ""
    mark = (f"{finding.severity} {finding.code}", STYLE[finding.severity])
    return Text.assemble((place, "bold"), mark, f": {finding.message}")
