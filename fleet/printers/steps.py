"""Progress of a long command: one line a step, with a spinner while it runs and its time when it is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field

from rich.status import Status
from rich.text import Text

from fleet.printers.console import OutputConsole
from fleet.printers.sanitizer import indent_lines, visible


@dataclass
class Step:
    """One step under way; `note` may be set to its result."""

    note: str = ""


@dataclass(frozen=True, kw_only=True)
class FinishedStep:
    """One step that is over: what came of it, and how long it took in seconds."""

    title: str
    note: str
    seconds: float
    failed: bool


@dataclass
class Steps:
    """Prints the steps of a command as they are taken, and remembers them."""

    console: OutputConsole
    taken: list[FinishedStep] = field(default_factory=list)
    to_come: list[str] = field(default_factory=list)
    """Titles of the steps that follow, if a command lists them."""
    _spinner: Status | None = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Without the spinner of the step under way, which would draw over a question."""
        if self._spinner is not None:
            self._spinner.stop()
        try:
            yield
        finally:
            if self._spinner is not None:
                self._spinner.start()

    def say(self, text: str) -> None:
        """Print a line of the step under way."""
        self.console.print(Text(indent_lines(f"  {text}")), soft_wrap=True)

    @contextmanager
    def step(self, title: str, *, spinner: bool = True) -> Iterator[Step]:
        """Take one step; when it fails, its line shows that, and the error is raised again.

        Without a spinner the step may draw on the terminal itself.
        """
        step, start = Step(), time.monotonic()
        if title in self.to_come:
            self.to_come.remove(title)
        self._spinner = self.console.status(Text(visible(title))) if spinner else None
        try:
            with self._spinner or nullcontext():
                yield step
        except BaseException:
            self._end(FinishedStep(title=title, note="", seconds=time.monotonic() - start, failed=True))
            raise
        self._end(FinishedStep(title=title, note=step.note, seconds=time.monotonic() - start, failed=False))

    def _end(self, taken: FinishedStep) -> None:
        self.taken.append(taken)
        sign = ("✗", "red bold") if taken.failed else ("✓", "green")
        noted = f": {taken.note}" if taken.note else ""
        line = Text.assemble(
            sign, indent_lines(f" {taken.title}{noted}"), (f"  {taken.seconds:.1f} s", "dim")
        )
        self.console.print(line, soft_wrap=True)
