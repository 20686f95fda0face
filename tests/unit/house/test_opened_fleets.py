"""A fleet is opened where a command, an app or a service begins; everything else is passed what is opened."""

from __future__ import annotations

import ast
from pathlib import Path

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


def callers(root: Path, *names: str) -> set[str]:
    """The modules that call a function or make an instance of a class."""
    files = (file for package in PACKAGES for file in (root / package).rglob("*.py"))
    return {
        file.relative_to(root).as_posix()
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in names
    }


def test_a_fleet_is_opened_where_something_begins(root: Path) -> None:
    assert callers(root, "Fleet", "open_project") <= OPENERS


def test_the_deployment_of_an_environment_is_decided_with_the_environment(root: Path) -> None:
    assert callers(root, "Deployment.of") <= DEPLOYERS
