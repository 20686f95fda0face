"""Which commands the tests of a module have run to a good end."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer.core

from tests.support.fleet_commands import Form, WrongCommandError, form, simple_commands

PROGRAMS = ("fleet", "python")


class CommandsRun:
    """Commands that were run, and ended with 0, since the tests of a module began."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def unrun_commands(self, commands: list[str]) -> list[str]:
        """Those of which none of the same form was run."""
        run = {actual_form for call in self.calls if (actual_form := _form(call))}
        return [
            command for command in commands if not all(form(call) in run for call in simple_commands(command))
        ]


@contextmanager
def watch_commands() -> Iterator[CommandsRun]:
    """Note each process and each call of this process's `fleet` that ends well."""
    run = CommandsRun()
    wait, main = subprocess.Popen.wait, typer.core.TyperGroup.main

    def noting_wait(process: subprocess.Popen[Any], timeout: float | None = None) -> int:
        code = wait(process, timeout)
        if code == 0 and isinstance(process.args, list | tuple):
            program, *words = map(str, process.args)
            run.calls.append([Path(program).name.rstrip("0123456789."), *words])
        return code

    def noting_main(command: Any, args: Any = None, *more: Any, **options: Any) -> Any:
        call = ["fleet", *(args or ())]
        try:
            answer = main(command, args, *more, **options)
        except SystemExit as end:
            if not end.code:
                run.calls.append(call)
            raise
        run.calls.append(call)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "wait", noting_wait)
        patch.setattr(typer.core.TyperGroup, "main", noting_main)
        yield run


def _form(call: list[str]) -> Form | None:
    if call[0] not in PROGRAMS:
        return None
    try:
        return form(call)
    except WrongCommandError:  # tests make mistakes on purpose
        return None
