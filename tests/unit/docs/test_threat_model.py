"""The threat model of docs/security.md: each entry names what stops somebody, and a test that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.fleet_folder import ROOT

TEXT = (
    (ROOT / "docs" / "security.md").read_text().split("## Threat model\n")[1].split("\n### What remains")[0]
)
ENTRIES = {
    actor: [" ".join(entry.split()) for entry in re.split(r"^- ", entries, flags=re.MULTILINE)[1:]]
    for actor, entries in re.findall(r"^### (.+?)\n\n(.+?)(?=^### |\Z)", TEXT, re.MULTILINE | re.DOTALL)
}
TESTS = re.findall(r"`(tests/[a-z0-9_/]+\.py)::(?:Test\w+::)?(test_\w+)`", TEXT)
ACTORS = (
    "The author of a model",
    "The author of a spec or a lock",
    "The author of a pull request from a fork",
    "Whoever names an object in S3, or writes to the log of a service or a model",
    "Another user of the machine",
    "Another machine of the network",
    "A web page",
    "A container in production",
    "A container that builds an engine",
)


@pytest.mark.parametrize(("file", "name"), TESTS, ids=lambda value: value)
def test_the_test_of_an_entry_exists(root: Path, file: str, name: str) -> None:
    tree = ast.parse((root / file).read_text())
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("actor", ENTRIES)
def test_each_entry_states_what_is_reached_what_stops_it_and_which_test_shows_it(actor: str) -> None:
    entry = re.compile(r"\*\*[^*]+\*\*.* \w.*\. (Tests?: `tests/.+::test_\w+`|Shown by: review)")
    assert ENTRIES[actor]
    assert [item for item in ENTRIES[actor] if entry.fullmatch(item) is None] == []


@pytest.mark.parametrize("actor", ACTORS)
def test_everybody_of_whom_the_product_is_afraid_has_an_entry(actor: str) -> None:
    assert actor in ENTRIES
