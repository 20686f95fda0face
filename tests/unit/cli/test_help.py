"""Help on a terminal of 80 columns."""

from __future__ import annotations

import re

import pytest
from typer.core import TyperGroup
from typer.main import get_group
from typer.testing import CliRunner

from triton_fleet.cli.commands import COMMANDS, app

COLUMNS = {"COLUMNS": "80"}
COMMAND_LINE = re.compile(r"│ (\S+) +(.*?) *│")


def help_of(*words: str) -> str:
    return CliRunner().invoke(app, [*words, "--help"], prog_name="fleet", env=COLUMNS).output


def paths() -> list[tuple[str, ...]]:
    group, result = get_group(app), list[tuple[str, ...]]()
    for name in COMMANDS:
        command = group.commands[name]
        inner = command.commands if isinstance(command, TyperGroup) else ()
        result += [(name,), *((name, item) for item in inner)]
    return result


def test_the_overview_has_one_line_for_each_command_under_a_heading() -> None:
    output = CliRunner().invoke(app, [], prog_name="fleet", env=COLUMNS).output
    matches = dict(COMMAND_LINE.findall(output))
    assert {name: matches.get(name) for name in COMMANDS} == {
        name: command.summary for name, command in COMMANDS.items()
    }
    assert all(f"─ {command.panel} ─" in output for command in COMMANDS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_begins_with_its_line_of_the_overview(name: str) -> None:
    assert (get_group(app).commands[name].help or "").split("\n")[0] == COMMANDS[name].summary


LONG = {("check",), ("deploy",), ("images",), ("models", "add"), ("show",)}
"""Help with each kind of what may be cut: choices, defaults, inner commands, arguments, long options."""


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=() if words in LONG else pytest.mark.nightly, id=" ".join(words))
        for words in paths()
    ],
)
def test_help_fits_without_python_types_or_cut_words(words: tuple[str, ...]) -> None:
    shown_help = help_of(*words)
    assert shown_help.startswith("\n") or "Usage: fleet" in shown_help
    assert max(map(len, shown_help.splitlines())) <= 80
    assert "…" not in shown_help
    assert not re.search(r"<(bool|str|int|path|list)|\[\[|\]\.\.\.\]", shown_help)
