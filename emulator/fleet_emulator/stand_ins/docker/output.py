"""The output of the stand-in: each line names it, except for the data that a command is called for."""

from __future__ import annotations

import sys

from triton_fleet.printers.sanitizer import powerless

NAME = "docker (stand-in)"
FAILED, REFUSED = 1, 125
"""Exit codes of docker: a command failed; docker itself refuses the call, before anything runs."""


class DockerError(Exception):
    """A failure of the stand-in, each argument a line; `code` is the exit code of docker for it."""

    def __init__(self, *lines: str, code: int = FAILED) -> None:
        super().__init__(*lines)
        self.code = code


def report(text: str) -> None:
    """Write progress and errors, on stderr as docker does."""
    for line in text.splitlines() or [""]:
        print(powerless(f"{NAME}: {line}"), file=sys.stderr, flush=True)


def data(text: str) -> None:
    """Write what other programs read, as it is."""
    print(text, flush=True)
