"""The meaning of a command line, by the parsers of those who would run it: `fleet`'s own, make's and botocore's."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import product
from typing import Any

import typer

from tests.support.fleet_folder import ROOT
from triton_fleet.cli.commands import app

UNIMPORTANT = frozenset({"env", "profile", "yes", "from_profile", "to_profile"})
"""Options that say where, as whom, and what a terminal would ask: two commands that differ in them do the same."""


@dataclass(frozen=True)
class Form:
    """A command without the names and values that it is given: the subcommand, and what is given at all."""

    words: tuple[str, ...]
    options: frozenset[tuple[str, object]] = frozenset()


class WrongCommandError(Exception):
    """No such command, option or argument; its text says which."""


def simple_commands(text: str) -> list[list[str]]:
    """The words of each program call in a line of the shell, without comments, redirections and assignments.

    Of `eval "$(CALL)"` it is that call.
    """
    text = re.sub(r'^eval "\$\((.*)\)"$', r"\1", text)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    calls: list[list[str]] = [[]]
    is_redirected = False
    for word in lexer:
        if is_redirected:
            is_redirected = False
        elif set(word) <= set("<>"):
            is_redirected = True
        elif set(word) <= set("();|&"):
            calls.append([])
        elif calls[-1] or not re.match(r"\w+=|\$$|[{}]", word):
            calls[-1].append(word)
    return [call for call in calls if call]


def spelled_out(text: str) -> Iterator[str]:
    """A synopsis such as `fleet local up|down [NAME...]`, once for each alternative and with all that is optional."""
    words = text.replace("[--", "--").replace("...]", "").replace("...", "").split(" ")
    choices = [
        [word] if set(word) & set("'\"$") or word == "|" else word.strip("[]").split("|") for word in words
    ]
    yield from (" ".join(choice) for choice in product(*choices))


def form(call: list[str], *, complete: bool = True) -> Form:
    """The effect of a call, by the parser of `fleet`; of Python which script it runs, of another program its words.

    Raises:
        WrongCommandError: `fleet` has no such command or option, or, of a complete one, an argument is missing.
    """
    if call[0] == "python":
        return Form(("python", *(re.sub(r"^.*/(?=examples/)", "", script) for script in call[1:2])))
    if call[0] != "fleet":
        return Form(tuple(call))
    command: Any = _fleet()
    words = list(call[1:])
    path = ["fleet"]
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        if words[0] not in command.commands:
            raise WrongCommandError(f"there is no `{' '.join(path)} {words[0]}`")
        command = command.commands[words[0]]
        path.append(words.pop(0))
    if hasattr(command, "commands"):
        if complete:
            raise WrongCommandError(f"`{' '.join(path)}` is no command without a subcommand")
        return Form(tuple(path))
    try:
        context = command.make_context(" ".join(path), words)
    except Exception as error:
        if complete or type(error).__name__ not in ("MissingParameter", "BadOptionUsage"):
            raise WrongCommandError(f"{' '.join(path)}: {error}") from error
        return Form(tuple(path))
    given_rows = {
        (name, value if isinstance(value, bool | Enum) else None)
        for name, value in context.params.items()
        if name not in UNIMPORTANT and context.get_parameter_source(name).name == "COMMANDLINE"
    }
    return Form(tuple(path), frozenset(given_rows))


@cache
def _fleet() -> Any:
    return typer.main.get_command(app)


@cache
def recipe(*words: str) -> list[str]:
    """The calls of programs by `make WORDS`, after those of `make setup`, without settings of their surroundings.

    Raises:
        WrongCommandError: there is no such target.
    """
    process = subprocess.run(
        ["make", "--dry-run", *READY_OPTIONS, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if process.returncode:
        raise WrongCommandError(process.stderr.strip())
    lines = [re.sub(r"^env .*? (?=python )", "", line) for line in process.stdout.splitlines()]
    return [line for line in lines if line.split()[0] not in ("echo", "test")]


READY_OPTIONS = tuple(
    f"--old-file={folder}/.ready"
    for folder in (".venv", ".venv-audit", ".venv-catalog", ".venv-checkov", ".venv-docs", "node_modules")
)
"""For make: what `make setup` makes is there."""
