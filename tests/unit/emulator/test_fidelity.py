"""docs/fidelity.md: each behaviour of the embedded AWS names the test that fails without it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from fleet_emulator.fidelity import Behaviour, behaviours, fidelity_page

ROWS = [row for rows in behaviours().values() for row in rows]


@cache
def functions(file: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)}


@pytest.fixture(scope="module")
def page() -> str:
    return fidelity_page()


@pytest.mark.parametrize("row", [row for row in ROWS if row.test], ids=lambda row: row.test)
def test_the_test_of_a_behaviour_exists(root: Path, row: Behaviour) -> None:
    file, _, name = row.test.partition("::")
    assert name in functions(root / file)


def test_only_what_is_kinder_than_aws_may_go_without_a_test() -> None:
    assert [row.behaviour for row in ROWS if not row.test and row.beside_aws != "kinder"] == []


def test_no_behaviour_is_listed_twice() -> None:
    behaviours = [row.behaviour for row in ROWS]
    assert len(behaviours) == len(set(behaviours))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.behaviour)
def test_the_page_has_an_entry_with_evidence_and_test_for_each_behaviour(row: Behaviour, page: str) -> None:
    (entry,) = (line for line in page.splitlines() if f" {row.behaviour}" in line)
    assert f"*{row.evidence.capitalize()}:* {row.source}" in entry
    assert f"[`{row.test.partition('::')[2]}`]" in entry or not row.test


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.behaviour)
def test_a_difference_from_aws_is_marked_at_the_begin_of_its_entry(row: Behaviour, page: str) -> None:
    is_marked = f"- **{row.beside_aws.capitalize()}:** {row.behaviour}" in page
    assert is_marked is (row.beside_aws != "same")


def test_a_behaviour_of_unknown_evidence_is_refused() -> None:
    with pytest.raises(ValueError, match="hearsay"):
        Behaviour(behaviour="x", beside_aws="same", evidence="hearsay", source="y")  # type: ignore[arg-type]
