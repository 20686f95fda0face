"""The formats in which findings are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path, PurePath

from fleet.findings import Finding, Severity
from fleet.printers.causes import Cause, causes
from fleet.printers.file_names import outside, place_in
from fleet.printers.human import show_findings
from fleet.printers.sanitizer import printable_json, visible
from fleet.rules.docs import link_to
from fleet.rules.names import display_name, name_of
from fleet.rules.registry import rules

ANNOTATIONS = 10
"""How many of one severity GitHub shows for a step."""


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

    GitHub shows the first ten annotations of a severity and step. Where there are more causes, the tenth
    counts those that are left out; those are in the log, as lines in a group.

    Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands; what is
    escaped, and how, is the toolkit's packages/core/src/command.ts. The limit:
    https://github.com/orgs/community/discussions/26680.
    """
    lines, rest = list[str](), list[Cause]()
    for severity in Severity:
        found = [each for each in causes(findings) if each.first.severity is severity]
        fit = found if len(found) <= ANNOTATIONS else found[: ANNOTATIONS - 1]
        lines += [_command(each, root) for each in fit]
        if left := found[len(fit) :]:
            rest += left
            lines.append(f"::{severity} title=more findings::{_data(_left_out(left, severity))}")
    if rest:
        lines.append("::group::findings that GitHub does not show as annotations")
        lines += [_log_line(place_of, root) for each in rest for place_of in (each.first, *each.others)]
        lines.append("::endgroup::")
    return "\n".join(lines)


def _left_out(causes: Sequence[Cause], severity: Severity) -> str:
    count = sum(1 + len(each.others) for each in causes)
    return f"{count} more {severity}s are in the log of this step: GitHub shows {ANNOTATIONS} per step"


def _log_line(finding: Finding, root: Path) -> str:
    """A finding on one line of the log, which is not a command."""
    file = PurePath(place_in(root, finding.file)) if finding.file else None
    place = ":".join(str(part) for part in (file, finding.line, finding.column) if part)
    hint = f" (hint: {finding.hint})" if finding.hint else ""
    text = f"{finding.severity} {display_name(finding.code)}: {finding.message}{hint}{_endpoints(finding)}"
    return f"{place or 'the fleet'}: {text}".replace("\r", " ").replace("\n", " ").replace("::", ": :")


def _endpoints(finding: Finding) -> str:
    return f" [{', '.join(finding.endpoints)}]" if finding.endpoints else ""


def _command(cause: Cause, root: Path) -> str:
    finding = cause.first
    properties = {
        "file": place_in(root, finding.file).as_posix() if finding.file else None,
        "line": finding.line,
        "col": finding.column,
        "title": display_name(finding.code),
    }
    fields = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value is not None)
    text = f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
    places = [place_in(root, each.file).as_posix() for each in cause.others if each.file]
    if places:
        text += f"\nthe same in {len(places)} more files: {', '.join(places)}"
    elif cause.extent:
        text += f"\n{len(finding.endpoints)} endpoints: {', '.join(finding.endpoints)}"
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
    `root`, `line` and `column` count from 1, and the three are null where they are unknown. `endpoints` are
    those that a shared file, such as a profile, makes wrong; empty where `file` is of one endpoint.
    """
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    document = {
        "version": VERSION,
        "errors": errors,
        "warnings": len(findings) - errors,
        "findings": [_entry(finding, root) for finding in findings],
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def _entry(finding: Finding, root: Path) -> dict[str, str | int | list[str] | None]:
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
        "endpoints": list(finding.endpoints),
        "docs": link_to(finding.code),
    }
