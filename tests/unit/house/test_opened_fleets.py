"""A fleet is opened where a command, an app or a service begins; everything else is passed what is opened."""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGES = ("fleet", "constructs", "stacks", "lambda")
OPENERS = {
    "fleet/artifacts/promote/promote.py",  # a copy with what a promotion would write
    "fleet/cli/current_fleet.py",  # each command
    "stacks/fleet_stacks/app.py",
    "fleet/local/image_contents.py",
    "fleet/local/supervisor.py",  # reads again what may have changed
    "fleet/local/up.py",
    "fleet/review/fleet_review.py",  # one for each commit
    "fleet/spec/project.py",
}
PLACES = {"constructs/triton_endpoints/library/environment.py", "fleet/spec/project.py"}


def callers(root: Path, *names: str) -> set[str]:
    """The modules that call a function or make an instance of a class."""
    files = (file for package in PACKAGES for file in (root / package).rglob("*.py"))
    return {
        file.relative_to(root).as_posix()
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    }


def test_a_fleet_is_opened_where_something_begins(root: Path) -> None:
    assert callers(root, "Fleet", "open_project") <= OPENERS


def test_the_place_of_an_environment_is_decided_with_the_environment(root: Path) -> None:
    assert callers(root, "place_of") <= PLACES
