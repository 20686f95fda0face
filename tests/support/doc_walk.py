"""A section of the documentation whose commands are typed in one shell, from an empty folder on."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.support.doc_commands import DocumentedCommand, read_page
from tests.support.doc_shell import CommandResult, MayNotBeTypedError
from tests.support.fleet_commands import simple_commands
from tests.support.fleet_folder import ROOT

WALK = "Three environments on this machine"
"""The section of docs/local.md; tests/e2e/test_docs.py leaves it to its own test."""
MAY_BE_TYPED = ("cat", "cd", "echo", "fleet", "git", "make", "mkdir", "sed", "source")
"""Programs that change nothing outside of the folder and its embedded AWS, with paths in the folder."""
OUTSIDE = re.compile(r"[/~]|.*\.\./|push|remote")


def walk() -> list[DocumentedCommand]:
    """The commands of the walk, in their order."""
    page = read_page("docs/local.md", (ROOT / "docs" / "local.md").read_text())
    return [command for command in page.commands if command.section == WALK]


def type_walk(
    commands: Sequence[DocumentedCommand], folder: Path, settings: Mapping[str, str], before: str
) -> Iterator[CommandResult]:
    """Each command's end, with what a terminal shows; `before` is a script that the shell reads first.

    Raises:
        MayNotBeTypedError: one of them calls another program, or names a path outside; nothing was typed.
    """
    for command in commands:
        _refuse(command)
    answers = folder.parent / "answers"
    answers.mkdir()
    lines = [before]
    for number, command in enumerate(commands):
        lines.append(
            f"{{\n{command.text}\n}} >'{answers}/{number}.out' 2>&1\necho $? >'{answers}/{number}.code'\n"
        )
    script = answers / "script"
    script.write_text("".join(lines))
    with subprocess.Popen(
        ["bash", script], cwd=folder, env={**os.environ, **settings}, stdin=subprocess.DEVNULL
    ):
        pass
    for number, command in enumerate(commands):
        code = int((answers / f"{number}.code").read_text())
        yield CommandResult(command, code, (answers / f"{number}.out").read_text(), "")


def _refuse(command: DocumentedCommand) -> None:
    for program, *words in simple_commands(command.bare):
        if program not in MAY_BE_TYPED or any(
            OUTSIDE.fullmatch(word) or OUTSIDE.match(word) for word in words
        ):
            raise MayNotBeTypedError(f"{command}: the walk does not type {program} {words}")
