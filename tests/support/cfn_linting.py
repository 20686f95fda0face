"""Findings of cfn-lint in templates."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# Dependencies that CloudFormation would have found by itself; the CDK writes them.
IGNORED_RULE = "W3005"
# Beside errors and warnings: actions that do not take the resource of their statement.
INCLUDED_RULE = "I3510"


def cfn_lint(templates: Iterable[Path]) -> list[tuple[str, str, str]]:
    """Of each finding the template's name, the rule and what it says; a warning counts."""
    options = ["--format", "json", "--ignore-checks", IGNORED_RULE, "--include-checks", INCLUDED_RULE]
    command = [str(Path(sys.executable).parent / "cfn-lint"), *options, "--template", *map(str, templates)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert process.stdout, process.stderr
    return [
        (Path(entry["Filename"]).name, entry["Rule"]["Id"], entry["Message"])
        for entry in json.loads(process.stdout)
    ]
