"""Findings as workflow commands, which GitHub Actions shows beside the lines of a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fleet.findings import Finding
from fleet.printers.file_names import place_in
from fleet.rules.names import named


def as_github(findings: Sequence[Finding], root: Path) -> str:
    """One command a line, such as `::error file=…,line=6,col=1,title=unknown-key (FL110)::…`.

    Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands; what is
    escaped, and how, is the toolkit's packages/core/src/command.ts.
    """
    return "\n".join(_command(finding, root) for finding in findings)


def _command(finding: Finding, root: Path) -> str:
    properties = {
        "file": place_in(root, finding.file).as_posix() if finding.file else None,
        "line": finding.line,
        "col": finding.column,
        "title": named(finding.code),
    }
    said = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value is not None)
    text = f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
    return f"::{finding.severity} {said}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
