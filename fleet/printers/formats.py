"""The formats in which findings are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from fleet.findings import Finding, Severity
from fleet.printers.file_names import outside, place_in
from fleet.printers.human import show_findings
from fleet.printers.sanitizer import printable_json, visible
from fleet.rules.docs import link_to
from fleet.rules.names import display_name, name_of
from fleet.rules.registry import rules


class Format(StrEnum):
    """Human: lines on standard error. The others: a document on standard output."""

    HUMAN = "human"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def print_findings(findings: Sequence[Finding], format: Format, root: Path) -> None:
    """Print all findings in the order that they have.

    Without findings, the text is empty; JSON and SARIF are documents without findings.

    Args:
        findings: What was found.
        format: How to print them.
        root: The project's folder, to which machines are given the paths relative.
    """
    match format:
        case Format.HUMAN:
            if findings:
                show_findings(findings)
        case Format.JSON:
            _write(printable_json(_unicode(as_json(findings, root))))
        case Format.SARIF:
            from fleet.printers.sarif import as_sarif

            _write(printable_json(_unicode(as_sarif([outside(each) for each in findings], root))))
        case Format.GITHUB:
            lines = _unicode(as_github([outside(each) for each in findings], root)).split("\n")
            _write("\n".join(map(visible, lines)))


def _unicode(text: str) -> str:
    """What is not Unicode, in a file's name, becomes `?`."""
    return text.encode("utf-8", "replace").decode()


def _write(text: str) -> None:
    """In UTF-8, which machines expect in every locale."""
    if text:
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{text}\n".encode())
        sys.stdout.buffer.flush()


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
        "title": display_name(finding.code),
    }
    fields = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value is not None)
    text = f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
    return f"::{finding.severity} {fields}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")


VERSION = 1
"""Raised when a field goes or changes its meaning; a field that comes does not raise it."""


def as_json(findings: Sequence[Finding], root: Path) -> str:
    """A document of `version`, `errors`, `warnings` and `findings`.

    Each finding has all fields: `rule` is its name where a rule finds it, else null; `file` is relative to
    `root`, `line` and `column` count from 1, and the three are null where they are unknown.
    """
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    document = {
        "version": VERSION,
        "errors": errors,
        "warnings": len(findings) - errors,
        "findings": [_entry(finding, root) for finding in findings],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def _entry(finding: Finding, root: Path) -> dict[str, str | int | None]:
    rule = rules().get(finding.code)
    return {
        "code": finding.code,
        "rule": rule.name if rule else None,
        "name": name_of(finding.code),
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "file": place_in(root, finding.file).as_posix() if finding.file else None,
        "line": finding.line,
        "column": finding.column,
        "docs": link_to(finding.code),
    }
