"""A fleet is opened where a command, an app or a service begins; everything else is passed what is opened."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGES = ("triton_fleet", "constructs", "stacks", "lambda")
OPENERS = {
    "triton_fleet/store/promote/promote.py",  # a copy with what a promotion would write
    "triton_fleet/cli/current_fleet.py",  # each command
    "stacks/fleet_stacks/app.py",
    "triton_fleet/local/image_contents.py",
    "triton_fleet/local/supervisor.py",  # reads again what may have changed
    "triton_fleet/local/up.py",
    "triton_fleet/review/fleet_review.py",  # one for each commit
    "triton_fleet/project/project.py",
}
DEPLOYERS = {"constructs/triton_endpoints/library/environment.py", "triton_fleet/project/project.py"}


@pytest.fixture(scope="module")
def calls(root: Path) -> list[tuple[str, str]]:
    """The modules with the functions and classes that they call."""
    files = (file for package in PACKAGES for file in (root / package).rglob("*.py"))
    return [
        (file.relative_to(root).as_posix(), ast.unparse(node.func))
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute)
    ]


def callers(calls: list[tuple[str, str]], *names: str) -> set[str]:
    """The modules that call a function or make an instance of a class."""
    return {file for file, name in calls if name in names}


def test_a_fleet_is_opened_where_something_begins(calls: list[tuple[str, str]]) -> None:
    assert callers(calls, "Fleet", "open_project") <= OPENERS


def test_the_deployment_of_an_environment_is_decided_with_the_environment(
    calls: list[tuple[str, str]],
) -> None:
    assert callers(calls, "Deployment.of") <= DEPLOYERS
