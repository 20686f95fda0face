"""Each command that a message tells a user to type is one that `fleet` takes as it is."""

from __future__ import annotations

import shlex

import pytest

from tests.support.fleet_commands import WrongCommandError, form
from tests.support.message_commands import MessageCommand, commands_of, message_commands


def test_the_commands_in_messages_are_complete() -> None:
    commands = list(message_commands())
    assert len(commands) > 100
    assert [f"{command.place}: {problem}" for command in commands if (problem := problem_of(command))] == []


def problem_of(command: MessageCommand) -> str:
    """Why the parser of `fleet` refuses a command; empty if it takes it."""
    try:
        form(shlex.split(command.line))
    except (WrongCommandError, ValueError) as error:
        return f"`{command.line}`: {error}"
    return ""


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('hint = "run `fleet deploy --yes`"', ["fleet deploy --yes"]),
        ('hint = f"run `fleet lock --env {name}`"', ["fleet lock --env 1"]),
        ("hint = f\"run `fleet lock{' --all' if x else ''}`\"", ["fleet lock --all", "fleet lock"]),
        ('say("next: fleet lock --env dev")', ["fleet lock --env dev"]),
        (
            'def hint():\n    what = "deploy"\n    return f"run `fleet {what} --env dev`"',
            ["fleet deploy --env dev"],
        ),
        ('hint = "then `fleet lock`"', ["fleet lock"]),
        ('message = "not what `fleet lock` would write"', []),
        ('"""Run `fleet deploy`."""', []),
    ],
)
def test_a_command_is_found_where_one_is_to_type_it(source: str, lines: list[str]) -> None:
    assert [command.line for command in commands_of(source, "a.py")] == lines


def test_a_command_that_lacks_an_option_is_refused() -> None:
    assert problem_of(MessageCommand("a.py:1", "fleet deploy --yes")).startswith("`fleet deploy --yes`: ")
