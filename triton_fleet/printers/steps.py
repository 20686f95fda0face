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

    SUCCESS = "done"
    FAILURE = "failed"
    INTERRUPTION = "interrupted"


SIGNS = {
    Outcome.SUCCESS: ("✓", "green"),
    Outcome.FAILURE: ("✗", "red bold"),
    Outcome.INTERRUPTION: ("✗", "yellow bold"),
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
    history: list[FinishedStep] = field(default_factory=list)
    to_come: list[str] = field(default_factory=list)
    """Titles of the steps that follow, if a command lists them."""
    _spinners: dict[str, Spinner] = field(default_factory=dict)
    _starts: dict[str, float] = field(default_factory=dict)
    _live: Live | None = None
    _is_paused: bool = False
    _is_interrupted: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Without the steps under way, which would draw over a question."""
        self._set_pause(True)
        try:
            yield
        finally:
            self._set_pause(False)

    def say(self, text: str) -> None:
        """Print a line of the step under way."""
        with self._lock:
            if not self._is_interrupted or threading.current_thread() is threading.main_thread():
                self.console.print(Text(indent_lines(f"  {text}")), soft_wrap=True)

    @contextmanager
    def step(self, title: str, *, spinner: bool = True, start_text: str = "") -> Iterator[Step]:
        """Take one step; when it fails, its line shows that, and the error is raised again.

        Without a spinner the step may draw on the terminal itself. `begun` is printed at its start where
        nothing is drawn.
        """
        step = Step()
        self._begin(title, spinner=spinner, start_text=start_text)
        try:
            yield step
        except BaseException as error:
            is_failure = not isinstance(error, KeyboardInterrupt)
            self._end(title, _reason(error), Outcome.FAILURE if is_failure else Outcome.INTERRUPTION)
            raise
        self._end(title, step.note, Outcome.SUCCESS)

    def interrupt(self) -> None:
        """Take the steps under way as interrupted; what their threads print later is left out."""
        with self._lock:
            for title in list(self._starts):
                self._end(title, "", Outcome.INTERRUPTION)
            self._is_interrupted = True

    def _begin(self, title: str, *, spinner: bool, start_text: str) -> None:
        with self._lock:
            if title in self.to_come:
                self.to_come.remove(title)
            self._starts[title] = time.monotonic()
            if spinner:
                self._spinners[title] = Spinner("dots")
            if start_text and not self.console.is_terminal:
                self.say(start_text)
            self._show()

    def _end(self, title: str, note: str, outcome: Outcome) -> None:
        with self._lock:
            if title not in self._starts:
                return
            seconds = time.monotonic() - self._starts.pop(title)
            self._spinners.pop(title, None)
            self.history.append(FinishedStep(title=title, note=note, seconds=seconds, outcome=outcome))
            note_text = f": {note}" if note and outcome is Outcome.SUCCESS else ""
            line = Text.assemble(
                SIGNS[outcome], indent_lines(f" {title}{note_text}"), (f"  {seconds:.1f} s", "dim")
            )
            self._show()
            self.console.print(line, soft_wrap=True)

    def _set_pause(self, is_paused: bool) -> None:
        with self._lock:
            self._is_paused = is_paused
            self._show()

    def _show(self) -> None:
        """Draw the steps under way on a terminal, from now on."""
        is_live = bool(self._spinners) and not self._is_paused and self.console.is_terminal
        if is_live and self._live is None:
            self._live = Live(get_renderable=self._rows, console=self.console, transient=True)
            self._live.start()
        elif not is_live and self._live is not None:
            self._live.stop()
            self._live = None

    def _rows(self) -> Table:
        # The thread that draws holds the console's lock, for which a thread with ours may wait: none here.
        rows, current_time = Table.grid(padding=(0, 1)), time.monotonic()
        rows.add_column()
        rows.add_column(no_wrap=True, overflow="ellipsis")
        rows.add_column(justify="right", style="dim")
        for title, spinner in list(self._spinners.items()):
            rows.add_row(
                spinner, Text(visible(title)), f"{current_time - self._starts.get(title, current_time):.0f} s"
            )
        return rows


def _reason(error: BaseException) -> str:
    """The first line of an error that users understand, and how many findings there are beside it."""
    if isinstance(error, FindingsError) and error.findings:
        more = f" (and {len(error.findings) - 1} more)" if len(error.findings) > 1 else ""
        return f"{error.findings[0].message.splitlines()[0]}{more}"
    if isinstance(error, CannotRunError):
        return error.problem.splitlines()[0]
    return ""
