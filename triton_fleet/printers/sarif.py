"""Findings in SARIF 2.1.0, which GitHub's code scanning and editors read.

Sources: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html;
what code scanning wants beyond it:
https://docs.github.com/en/code-security/reference/code-scanning/sarif-files/sarif-support
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from triton_fleet.findings import Finding, Severity
from triton_fleet.printers.excerpt import Excerpt, Excerpts, place_in, uri_of
from triton_fleet.rules.codes import other_codes, other_names, severity_of
from triton_fleet.rules.registry import rules

Json: TypeAlias = dict[str, Any]
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
DISTRIBUTION = "triton-fleet"
ROOT = "%SRCROOT%"
FILELESS = "model_specs"
"""Code scanning refuses a whole document for one result without a file: what has none is about the fleet."""
MAX_RESULTS = 25_000
"""Code scanning's limit for a run."""
MAX_TEXT = 1024
"""Code scanning's limit for a description."""


def as_sarif(findings: Sequence[Finding], top: Path, root: Path) -> str:
    """A document of one run: all rules and codes, whatever was found, and a result for each finding.

    Paths are relative to the top of the repository that the fleet's root is in.

    Code scanning refuses a run of more than 25,000 results: errors come first, and a notification counts
    those that are left out.
    """
    selection = sorted(findings, key=lambda finding: finding.severity is not Severity.ERROR)[:MAX_RESULTS]
    if len(selection) == len(findings):
        selection = list(findings)
    descriptors = list(_descriptors())
    index = {descriptor["id"]: number for number, descriptor in enumerate(descriptors)}
    run = {
        "tool": {"driver": {"name": "fleet", "version": version(DISTRIBUTION), "rules": descriptors}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The top of the repository."}}},
        "results": list(_results(selection, top, root / FILELESS, index)),
        "invocations": [_invocation(len(findings) - len(selection))],
    }
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, indent=1, ensure_ascii=False)


def _invocation(left_out: int) -> Json:
    invocation: Json = {"executionSuccessful": True}
    if left_out:
        text = f"{left_out} more findings are omitted: code scanning accepts at most {MAX_RESULTS}"
        invocation["toolExecutionNotifications"] = [{"level": "warning", "message": {"text": text}}]
    return invocation


def _descriptors() -> Iterator[Json]:
    for rule in rules().values():
        text = "\n\n".join(filter(None, (rule.summary, rule.reason)))
        absolute = {"helpUri": rule.source} if rule.source.startswith("https://") else {}
        yield {**_descriptor(rule.code, rule.name, rule.summary, text, rule.severity.value), **absolute}
    for code, text in other_codes().items():
        yield _descriptor(code, other_names()[code], text, text, severity_of(code).value)


def _descriptor(code: str, name: str, short: str, full: str, level: str) -> Json:
    return {
        "id": code,
        "name": name,
        "shortDescription": {"text": short[:MAX_TEXT]},
        "fullDescription": {"text": full[:MAX_TEXT]},
        "help": {"text": f"{full}\n\nMore: `fleet rules {name}`."},
        "defaultConfiguration": {"level": level},
    }


def _results(findings: Sequence[Finding], top: Path, fileless: Path, index: dict[str, int]) -> Iterator[Json]:
    excerpts, counts = Excerpts(findings), Counter[str]()
    for finding in findings:
        path = place_in(top, finding.file or fileless)
        excerpt = excerpts.of(finding)
        print_ = _fingerprint(finding, path, excerpt)
        counts[print_] += 1
        text = f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
        if finding.endpoints:
            text += f"\n{len(finding.endpoints)} endpoints: {', '.join(finding.endpoints)}"
        yield {
            "ruleId": finding.code,
            "ruleIndex": index[finding.code],
            "level": finding.severity.value,
            # Braces and brackets stay as they are: readers show them so, doubled ones as two.
            "message": {"text": text},
            "locations": [{"physicalLocation": _location(finding, path, excerpt)}],
            # The only name that code scanning looks at. CodeQL counts what is alike in the same way.
            "partialFingerprints": {"primaryLocationLineHash": f"{print_}:{counts[print_]}"},
        }


def _location(finding: Finding, path: PurePath, excerpt: Excerpt | None) -> Json:
    artifact = {"uri": uri_of(path)} if path.is_absolute() else {"uri": uri_of(path), "uriBaseId": ROOT}
    # Code scanning wants a line and a column of everything, a whole file too.
    region = {"startLine": finding.line or 1, "startColumn": finding.column or 1}
    if excerpt is not None:
        region = {
            "startLine": finding.line or 1,
            "startColumn": excerpt.start + 1,
            "endColumn": max(excerpt.end, excerpt.start) + 1,
        }
    return {"artifactLocation": artifact, "region": region}


def _fingerprint(finding: Finding, path: PurePath, excerpt: Excerpt | None) -> str:
    """The same while the line's text is the same, wherever it moves in its file."""
    text = excerpt.line.strip() if excerpt else finding.message
    parts = "\0".join((finding.code, path.as_posix(), text))
    return sha256(parts.encode("utf-8", "surrogateescape")).hexdigest()[:16]
