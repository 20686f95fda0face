"""`fleet docs`: the documentation of an installed fleet, to which messages lead."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from typer.testing import CliRunner

from tests.support.fleet_folder import ROOT
from triton_fleet.cli.commands import app
from triton_fleet.rules.registry import rules

PAGE_PATH = re.compile(r"(?<![\w/.])docs/[\w/-]+(?:\.md|/\d{4})")
PAGE_COMMAND = re.compile(r"fleet docs ([\w/-]+)")
WITHOUT_MESSAGES = (
    "triton_fleet/rules/rule.py",
    "triton_fleet/rules/docs.py",
    "emulator/fleet_emulator/fidelity.py",
)
"""Files that write pages of this repository."""
ALARMS = "triton_fleet/endpoint/alarms.py"
"""An alarm's description is in templates; the environment's `runbook` replaces the path."""


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["docs", *arguments])
    return result.exit_code, result.output


def message_texts() -> Iterator[tuple[str, str]]:
    """The strings of the packages that users read, without docstrings and the sources of rules."""
    sources = {rule.source for rule in rules().values()}
    for package in ("triton_fleet", "constructs", "emulator", "stacks"):
        for file in sorted((ROOT / package).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if name in (*WITHOUT_MESSAGES, ALARMS):
                continue
            tree = ast.parse(file.read_text())
            docstrings = {
                id(node.value)
                for node in ast.walk(tree)
                if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            }
            for node in ast.walk(tree):
                if (
                    isinstance(node, ast.Constant)
                    and isinstance(node.value, str)
                    and id(node) not in docstrings
                    and node.value not in sources
                ):
                    yield f"{name}:{node.lineno}", node.value
    for file in (
        ROOT / "triton_fleet/catalog/data/symptoms.yaml",
        ROOT / "triton_fleet/rules/other_codes.yaml",
    ):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if not line.lstrip().startswith("#"):
                yield f"{file.relative_to(ROOT)}:{number}", line


def test_the_pages_are_listed_with_their_titles() -> None:
    code, output = run()
    assert code == 0
    assert "engines: TensorRT engines" in output.splitlines()
    assert any(line.startswith("guides/upgrade: ") for line in output.splitlines())


@pytest.mark.parametrize("name", ["engines", "engines.md", "docs/engines.md#the-build"])
def test_a_page_is_printed_whichever_way_it_is_named(name: str) -> None:
    code, output = run(name)
    assert code == 0
    assert output.splitlines() == (ROOT / "docs/engines.md").read_text().splitlines()


@pytest.mark.parametrize("name", ["engin", "../README", "/etc/passwd"])
def test_a_page_that_does_not_exist_is_refused(name: str) -> None:
    code, output = run(name)
    assert code == 2
    assert f"there is no page '{name}'" in output
    assert name != "engin" or "did you mean `engines`?" in output


def test_a_rule_names_the_command_of_the_page_that_is_its_source() -> None:
    result = CliRunner().invoke(app, ["rules", "FL346"])
    assert "source: `fleet docs security`" in result.output.splitlines()


def test_no_message_leads_to_a_file_that_an_installed_fleet_does_not_have() -> None:
    assert [place for place, text in message_texts() if PAGE_PATH.search(text)] == []


def test_every_page_to_which_a_message_leads_exists() -> None:
    pages = {page for _, text in message_texts() for page in PAGE_COMMAND.findall(text)}
    assert {"engines", "check", "access"} <= pages
    assert [page for page in pages if not (ROOT / f"docs/{page}.md").is_file()] == []
