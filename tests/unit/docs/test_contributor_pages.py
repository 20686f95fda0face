"""Pages for contributors name files and functions that exist."""

from __future__ import annotations

import ast
import re
import tomllib

import pytest

from tests.support.fleet_folder import ROOT

PAGES = [
    "CONTRIBUTING.md",
    "tests/README.md",
    "docs/architecture.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs" / "add").glob("*.md")),
]
FOLDERS = ("constructs", "containers", "docs", "emulator", "triton_fleet", "lambda", "stacks", "tests")
FILE = re.compile(rf"`((?:{'|'.join(FOLDERS)})/[\w./-]+\.\w+)`")
STEP = re.compile(r"^\| .+ \| `([\w./]+\.py)` \| `(\w+)` \|$", re.MULTILINE)
PLACEHOLDERS = re.compile(r"NAME|SECTION|SUBJECT|THEME|tests/e2e/emulator/test_quotas.py")
"""In the names of files that a page has its reader make."""


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page: str) -> None:
    named_matches = FILE.findall((ROOT / page).read_text())
    assert [
        file for file in named_matches if not PLACEHOLDERS.search(file) and not (ROOT / file).exists()
    ] == []


def test_every_step_of_a_walk_names_what_its_file_defines() -> None:
    steps = STEP.findall((ROOT / "docs" / "architecture.md").read_text())
    assert len(steps) > 20
    assert [step for step in steps if step[1] not in defined_targets(step[0])] == []


def test_the_architecture_has_every_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = [layer for contract in contracts for layer in contract.get("layers", ())]
    named_matches = re.findall(r"`([a-z_.]+)`", (ROOT / "docs" / "architecture.md").read_text())
    packages = {name.removeprefix("triton_fleet.") for layer in layers for name in layer.split(" | ")}
    assert packages - {*named_matches} == set()


def defined_targets(file: str) -> set[str]:
    """The functions and classes of a module."""
    tree = ast.parse((ROOT / file).read_text())
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
