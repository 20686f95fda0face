"""The formats in which findings are printed."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from triton_fleet.findings import Finding, Severity
from triton_fleet.git.work_tree import work_tree
from triton_fleet.printers.excerpt import outside, place_in
from triton_fleet.printers.github import as_github
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.sanitizer import printable_json, visible
from triton_fleet.rules.docs import link_to
from triton_fleet.rules.names import name_of
from triton_fleet.rules.registry import rules


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
        root: The project's folder. JSON has paths relative to it; SARIF and GitHub, which know a whole
            repository, relative to the top of its work tree.
    """
    match format:
        case Format.HUMAN:
            if findings:
                show_findings(findings)
        case Format.JSON:
            _write(printable_json(_unicode(as_json(findings, root))))
        case Format.SARIF:
            from triton_fleet.printers.sarif import as_sarif

            outer_findings = [outside(finding) for finding in findings]
            _write(printable_json(_unicode(as_sarif(outer_findings, _top(root), root))))
        case Format.GITHUB:
            lines = _unicode(as_github([outside(finding) for finding in findings], _top(root))).split("\n")
            _write("\n".join(map(visible, lines)))


def _top(root: Path) -> Path:
    """The folder to which forges have paths relative."""
    tree = work_tree(root)
    return tree.top if tree else root


def _unicode(text: str) -> str:
    """The text with `?` for bytes of file names that are not Unicode."""
    return text.encode("utf-8", "replace").decode()


def _write(text: str) -> None:
    """In UTF-8, which machines expect in every locale."""
    if text:
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{text}\n".encode())
        sys.stdout.buffer.flush()


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
