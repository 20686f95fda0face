"""The shell in which the commands of a page are typed, one after the other; `fleet` and `aws` are answered here."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tests.support.doc_commands import DocumentedCommand
from tests.support.fleet_commands import READY_OPTIONS, simple_commands
from triton_fleet.cli.commands import app
from triton_fleet.exits import run_to_exit

FUNCTIONS = f"""\
set -o pipefail
asked() {{
  printf '%s\\0' "$#" "$@" >&"$REQUESTS"
  read -r code <&"$REPLIES"
  cat "$ANSWERED/out"; cat "$ANSWERED/err" >&2
  return "$code"
}}
ended() {{ printf '%s\\0' 2 ended "$1" >&"$REQUESTS"; }}
make() {{ command make {" ".join(READY_OPTIONS)} "$@"; }}
"""


MAY_BE_TYPED = {
    "aws": r"[\w-]+",
    "cat": r"model_specs/[\w-]+\.yaml",
    "export": r"AWS_REGION=[\w-]+",
    "fleet": r"[\w-]+",
    "git": "add|checkout|commit|diff|log|revert|rm",
    "jq": ".*",
    "make": "clean|weights",
    "python": r"examples/\w+/\w+\.py",
    "source": r"\.venv/bin/activate",
}
"""Programs by their first words, which do nothing outside of the scratch copy and its embedded AWS.

A page decides what its test types: that must not install, start a container or push.
"""


ELSEWHERE = "name it in tests/docs/run_elsewhere.yaml, with the test that runs it"


class MayNotBeTypedError(Exception):
    """A program that the tests do not run because a page says so; its text names the command."""


@dataclass(frozen=True)
class CommandResult:
    """A command's end."""

    command: DocumentedCommand
    code: int
    out: str
    err: str


def is_as_shown(end: CommandResult) -> bool:
    """It exits with 0, or with 1 where errors are shown; in what is shown an ellipsis stands for anything."""
    text = end.command.output
    if text is None:
        return end.code == 0
    parts = [r"\s+".join(map(re.escape, part.split())) for part in text.split("…")]
    match = re.fullmatch(rf"\s*{'.*'.join(parts)}\s*", end.out + end.err, re.DOTALL)
    return end.code == (re.search(r"(^|: | )error\[", text) is not None) and match is not None


class DocShell:
    """A bash of a page's commands, so that variables, pipes and patterns are what they are to a user.

    `programs` are called in this process, which costs a tenth of a process each; one at a time, so not two in a pipe.
    """

    def __init__(self, root: Path, folder: Path, programs: Mapping[str, Callable[[list[str]], None]]) -> None:
        self.root, self.folder, self.programs = root, folder, programs

    def type(self, commands: Sequence[DocumentedCommand]) -> Iterator[CommandResult]:
        """Each command's end; commands after one that failed are typed all the same.

        Raises:
            MayNotBeTypedError: one of them calls another program; nothing was typed.
        """
        for command in commands:
            refuse_unsafe_command(command)
        return self._type(commands)

    def _type(self, commands: Sequence[DocumentedCommand]) -> Iterator[CommandResult]:
        request, requests = os.pipe()
        replies, answer = os.pipe()
        environment = {
            **os.environ,
            "REQUESTS": str(requests),
            "REPLIES": str(replies),
            "ANSWERED": str(self.folder),
        }
        script = self.folder / "script"
        script.write_text("".join(self._lines(commands)))
        with subprocess.Popen(
            ["bash", script],
            cwd=self.root,
            env=environment,
            pass_fds=(requests, replies),
            stdin=subprocess.DEVNULL,
        ) as bash:
            os.close(requests)
            os.close(replies)
            with os.fdopen(request, "rb") as questions, os.fdopen(answer, "wb", buffering=0) as answers:
                yield from self._ends(commands, questions, answers)
        assert bash.returncode == 0

    def _ends(
        self, commands: Sequence[DocumentedCommand], questions: BinaryIO, answers: BinaryIO
    ) -> Iterator[CommandResult]:
        """Answer what bash asks until it has typed all commands."""
        for number, command in enumerate(commands):
            while (words := read_requests(questions))[0] != "ended":
                answers.write(f"{self._answer(*words)}\n".encode())
            out, err = ((self.folder / f"{number}.{kind}").read_text() for kind in ("out", "err"))
            yield CommandResult(command, int(words[1]), out, err)

    def _lines(self, commands: Sequence[DocumentedCommand]) -> Iterator[str]:
        yield FUNCTIONS
        for program in self.programs:
            yield f'{program}() {{ asked {program} "$@"; }}\n'
        for number, command in enumerate(commands):
            out, err = (f'"$ANSWERED/{number}.{kind}"' for kind in ("out", "err"))
            yield f"{{\n{command.text}\n}} >{out} 2>{err}\nended $?\n"

    def _answer(self, program: str, *words: str) -> int:
        """Run a program; its exit code."""
        code = 0
        with (
            (self.folder / "out").open("w") as out,
            (self.folder / "err").open("w") as err,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                self.programs[program](list(words))
            except SystemExit as end:
                code = int(end.code or 0)
        return code


def refuse_unsafe_command(command: DocumentedCommand) -> None:
    """Look at each call of a program in a command.

    Raises:
        MayNotBeTypedError: one of them is not among those that may be typed, or cannot be seen for quotes.
    """
    if "`" in command.text or re.search(r'"[^"]*\$\(', command.text):
        raise MayNotBeTypedError(f"{command}: a program is called within quotes")
    for program, *words in simple_commands(command.text):
        allowed_names = MAY_BE_TYPED.get(program, "(?!)")
        if not re.fullmatch(allowed_names, next(iter(words), "")):
            raise MayNotBeTypedError(
                f"{command}: no test types {' '.join([program, *words[:1]])}; {ELSEWHERE}"
            )


def fleet(words: list[str]) -> None:
    """`fleet WORDS`, whose handlers of signals do not outlive it."""
    kept_value = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        run_to_exit(lambda: app(words, prog_name="fleet"))
    finally:
        for number, handler in kept_value.items():
            signal.signal(number, handler)


def read_requests(stream: BinaryIO) -> list[str]:
    """A program and its words: their number, then each, all of them followed by NUL.

    Raises:
        EOFError: bash has ended, as at a mistake of syntax.
    """
    return [_word(stream) for _ in range(int(_word(stream)))]


def _word(stream: BinaryIO) -> str:
    read = bytearray()
    while (byte := stream.read(1)) != b"\0":
        if not byte:
            raise EOFError("bash has ended before its commands")
        read += byte
    return read.decode()
