"""Progress of a long command: one line a step, with a spinner while it runs and its time when it is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum

from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.sanitizer import indent_lines, visible


class Outcome(StrEnum):
    """How a step ended."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


SIGNS = {
    Outcome.DONE: ("✓", "green"),
    Outcome.FAILED: ("✗", "red bold"),
    Outcome.INTERRUPTED: ("✗", "yellow bold"),
}


@dataclass
class Step:
    """One step under way; `note` may be set to its result."""

    note: str = ""


@dataclass(frozen=True, kw_only=True)
class FinishedStep:
    """One step that is over: its result, or why it failed, and how long it took in seconds."""

    title: str
    note: str
    seconds: float
    outcome: Outcome


@dataclass
class Steps:
    """Prints the steps of a command as they are taken, and remembers them; threads may take some each.

    A terminal shows the steps under way below the printed lines.
    """

    console: OutputConsole
    taken: list[FinishedStep] = field(default_factory=list)
    to_come: list[str] = field(default_factory=list)
    """Titles of the steps that follow, if a command lists them."""
    _running: dict[str, Spinner] = field(default_factory=dict)
    _begun: dict[str, float] = field(default_factory=dict)
    _live: Live | None = None
    _is_paused: bool = False
    _is_interrupted: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Without the steps under way, which would draw over a question."""
        self._pause(True)
        try:
            yield
        finally:
            self._pause(False)

    def say(self, text: str) -> None:
        """Print a line of the step under way."""
        with self._lock:
            if not self._is_interrupted or threading.current_thread() is threading.main_thread():
                self.console.print(Text(indent_lines(f"  {text}")), soft_wrap=True)

    @contextmanager
    def step(self, title: str, *, spinner: bool = True, begun: str = "") -> Iterator[Step]:
        """Take one step; when it fails, its line shows that, and the error is raised again.

        Without a spinner the step may draw on the terminal itself. `begun` is printed at its start where
        nothing is drawn.
        """
        step = Step()
        self._begin(title, spinner=spinner, begun=begun)
        try:
            yield step
        except BaseException as error:
            failed = not isinstance(error, KeyboardInterrupt)
            self._end(title, _reason(error), Outcome.FAILED if failed else Outcome.INTERRUPTED)
            raise
        self._end(title, step.note, Outcome.DONE)

    def interrupt(self) -> None:
        """Take the steps under way as interrupted; what their threads print later is left out."""
        with self._lock:
            for title in list(self._begun):
                self._end(title, "", Outcome.INTERRUPTED)
            self._is_interrupted = True

    def _begin(self, title: str, *, spinner: bool, begun: str) -> None:
        with self._lock:
            if title in self.to_come:
                self.to_come.remove(title)
            self._begun[title] = time.monotonic()
            if spinner:
                self._running[title] = Spinner("dots")
            if begun and not self.console.is_terminal:
                self.say(begun)
            self._show()

    def _end(self, title: str, note: str, outcome: Outcome) -> None:
        with self._lock:
            if title not in self._begun:
                return
            seconds = time.monotonic() - self._begun.pop(title)
            self._running.pop(title, None)
            self.taken.append(FinishedStep(title=title, note=note, seconds=seconds, outcome=outcome))
            noted = f": {note}" if note and outcome is Outcome.DONE else ""
            line = Text.assemble(
                SIGNS[outcome], indent_lines(f" {title}{noted}"), (f"  {seconds:.1f} s", "dim")
            )
            self._show()
            self.console.print(line, soft_wrap=True)

    def _pause(self, paused: bool) -> None:
        with self._lock:
            self._is_paused = paused
            self._show()

    def _show(self) -> None:
        """Draw the steps under way on a terminal, from now on."""
        wanted = bool(self._running) and not self._is_paused and self.console.is_terminal
        if wanted and self._live is None:
            self._live = Live(get_renderable=self._rows, console=self.console, transient=True)
            self._live.start()
        elif not wanted and self._live is not None:
            self._live.stop()
            self._live = None

    def _rows(self) -> Table:
        # The thread that draws holds the console's lock, for which a thread with ours may wait: none here.
        rows, now = Table.grid(padding=(0, 1)), time.monotonic()
        rows.add_column()
        rows.add_column(no_wrap=True, overflow="ellipsis")
        rows.add_column(justify="right", style="dim")
        for title, spinner in list(self._running.items()):
            rows.add_row(spinner, Text(visible(title)), f"{now - self._begun.get(title, now):.0f} s")
        return rows


def _reason(error: BaseException) -> str:
    """The first line of an error that users understand, and how many findings there are beside it."""
    if isinstance(error, FindingsError) and error.findings:
        more = f" (and {len(error.findings) - 1} more)" if len(error.findings) > 1 else ""
        return f"{error.findings[0].message.splitlines()[0]}{more}"
    if isinstance(error, CannotRunError):
        return error.problem.splitlines()[0]
    return ""
