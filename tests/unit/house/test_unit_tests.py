"""A unit test needs no server: what starts one is of tests/integration, and nothing below imports what is above."""

from __future__ import annotations

import ast
import socket
from contextlib import closing
from pathlib import Path

import pytest

ABOVE = {
    "support": ("tests.e2e", "tests.integration", "tests.unit"),
    "unit": ("tests.e2e", "tests.integration"),
    "integration": ("tests.e2e", "tests.unit"),
}
"""What the files of a folder of tests do not import."""


def test_a_unit_test_that_listens_fails_and_says_where_it_belongs() -> None:
    refused_values = pytest.raises(
        pytest.fail.Exception, match=r"at \('127.0.0.1', \d+\): move it to tests/integration"
    )
    with closing(socket.socket()) as server, refused_values:
        server.bind(("127.0.0.1", 0))
        server.listen()


@pytest.mark.parametrize("folder", ABOVE)
def test_tests_import_what_they_share_from_support(root: Path, folder: str) -> None:
    files = sorted((root / "tests" / folder).rglob("*.py"))
    assert files
    assert [
        file.name for file in files if any(name.startswith(ABOVE[folder]) for name in imported_modules(file))
    ] == []


def imported_modules(file: Path) -> list[str]:
    """The modules that a file imports from."""
    nodes = [*ast.walk(ast.parse(file.read_text()))]
    return [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
