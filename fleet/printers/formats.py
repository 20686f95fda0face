"""The formats in which findings are printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from fleet.findings import Finding
from fleet.printers.file_names import outside
from fleet.printers.human import show_findings
from fleet.printers.sanitizer import printable_json, visible


class Format(StrEnum):
    """Human: lines on standard error. The others: a document on standard output."""

    HUMAN = "human"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


def print_findings(findings: Sequence[Finding], format: Format, root: Path) -> None:
    """Print all findings in the order that they have.

    Where there are none, a person is told nothing, and JSON and SARIF say so.

    Args:
        findings: What was found.
        format: How to say it.
        root: The project's folder, to which machines are given the paths relative.
    """
    match format:
        case Format.HUMAN:
            if findings:
                show_findings(findings)
        case Format.JSON:
            from fleet.printers.json import as_json

            _write(printable_json(_unicode(as_json(findings, root))))
        case Format.SARIF:
            from fleet.printers.sarif import as_sarif

            _write(printable_json(_unicode(as_sarif([outside(each) for each in findings], root))))
        case Format.GITHUB:
            from fleet.printers.github import as_github

            lines = _unicode(as_github([outside(each) for each in findings], root)).split("\n")
            _write("\n".join(map(visible, lines)))


def _unicode(text: str) -> str:
    """What is no Unicode, in a file's name, becomes `?`."""
    return text.encode("utf-8", "replace").decode()


def _write(text: str) -> None:
    """In UTF-8, which machines expect in every locale."""
    if text:
        sys.stdout.flush()
        sys.stdout.buffer.write(f"{text}\n".encode())
        sys.stdout.buffer.flush()
