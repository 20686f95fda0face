"""The threat model of docs/security.md: each row names what stops somebody, and a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from fleet_folder import ROOT

TEXT = (ROOT / "docs" / "security.md").read_text().split("## Threat model\n")[1].split("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith("| ---")
][1:]
TESTS = re.findall(r"`(tests/[a-z0-9_/]+\.py)::(test_\w+)`", TEXT)
ACTORS = (
    "author of a model",
    "author of a spec",
    "author of a pull request from a fork",
    "who names an object in S3, or what a service or a model's log contains",
    "another user of the machine",
    "another machine of the network",
    "a web page",
    "a container in production",
    "an engine build",
)


@pytest.mark.parametrize(("file", "name"), TESTS, ids=lambda value: value)
def test_the_test_of_a_row_exists(root: Path, file: str, name: str) -> None:
    tree = ast.parse((root / file).read_text())
    assert name in {each.name for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)}


def test_each_row_says_who_what_stops_them_and_which_test_shows_it() -> None:
    assert len(ROWS) > len(ACTORS)
    assert [row for row in ROWS if len(row) != 4 or not all(row)] == []
    assert [row for row in ROWS if "::test_" not in row[3] and row[3] != "review"] == []


@pytest.mark.parametrize("actor", ACTORS)
def test_everybody_of_whom_the_product_is_afraid_has_a_row(actor: str) -> None:
    assert actor in {row[0] for row in ROWS}
