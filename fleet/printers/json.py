"""Findings as one JSON document, for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from fleet.findings import Finding, Severity
from fleet.printers.file_names import place_in
from fleet.rules.docs import link_to
from fleet.rules.names import name_of
from fleet.rules.registry import rules

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
