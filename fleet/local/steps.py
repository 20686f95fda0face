"""Progress of a long command: one line a step, with a spinner while it runs and its time when it is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text


@dataclass
class Step:
    """One step under way; `note` may be set to say what came of it."""

    note: str = ""


@dataclass
class Steps:
    """Prints the steps of a command as they are taken."""

    console: Console

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Take one step; when it fails its line says so, and the failure goes on."""
        step, start = Step(), time.monotonic()
        try:
            with self.console.status(title):
                yield step
        except BaseException:
            self._line("✗", "red bold", title, "", start)
            raise
        self._line("✓", "green", title, step.note, start)

    def _line(self, sign: str, style: str, title: str, note: str, start: float) -> None:
        seconds = f"  {time.monotonic() - start:.1f} s"
        noted = f": {note}" if note else ""
        self.console.print(Text.assemble((sign, style), f" {title}{noted}", (seconds, "dim")), soft_wrap=True)
