"""Progress of a publish: bars on a terminal, else a line for each archive and engine, or nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol

from rich import filesize
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.table import Column
from rich.text import Text

from triton_fleet.core.formats import count_of
from triton_fleet.printers.console import OutputConsole
from triton_fleet.printers.sanitizer import indent_lines, visible
from triton_fleet.spec.environment import LOCAL

Advance = Callable[[int], None]
"""Called with what was done since the last call: bytes of a tar stream, or a number of objects."""
Tell = Callable[[str], None]
"""Called with the last line of a build's log."""


class PublishProgress(Protocol):
    """Receives the progress of a publish; `archive` and `build` are called from several threads."""

    def builds(self) -> AbstractContextManager[None]:
        """Around all builds of engines, or of images."""

    def build(self, name: str) -> AbstractContextManager[Tell]:
        """Around one build, `engine NAME` or `image NAME`; its result exists if nothing is raised."""

    def uploads(self, count: int, size: int, subject: str = "archive") -> AbstractContextManager[None]:
        """Around all uploads: how many archives, or layers of images, and their bytes."""

    def archive(self, name: str, size: int) -> AbstractContextManager[Advance]:
        """Around the upload of an archive or a layer of `size` bytes, which is done if nothing is raised."""

    def copies(self, objects: int) -> AbstractContextManager[Advance]:
        """Around the copies within S3."""


class LineProgress:
    """One line at the end of each archive, one at start and end of a build, one for all copies."""

    def __init__(self, console: OutputConsole) -> None:
        self._console = console

    def builds(self) -> AbstractContextManager[None]:
        """Show nothing: each build has lines."""
        return nullcontext()

    @contextmanager
    def build(self, name: str) -> Iterator[Tell]:
        """Show the build's start, end and duration."""
        self._say(f"{name}: building")
        start = time.monotonic()
        try:
            yield _ignore
        except CancelledError:
            self._say(f"{name}: stopped after {time.monotonic() - start:.0f} s")
            raise
        except BaseException:
            self._say(f"{name}: failed after {time.monotonic() - start:.0f} s")
            raise
        self._say(f"{name}: ready after {time.monotonic() - start:.0f} s")

    def uploads(self, count: int, size: int, subject: str = "archive") -> AbstractContextManager[None]:
        """Show nothing: each archive has a line."""
        return nullcontext()

    @contextmanager
    def archive(self, name: str, size: int) -> Iterator[Advance]:
        """Show what was uploaded, and how fast."""
        start = time.monotonic()
        yield _ignore
        seconds = time.monotonic() - start
        rate = f", {shown_size(size / seconds)}/s" if seconds else ""
        self._say(f"uploaded {name}: {shown_size(size)} in {seconds:.1f} s{rate}")

    @contextmanager
    def copies(self, objects: int) -> Iterator[Advance]:
        """Show how many were copied."""
        yield _ignore
        self._say(f"copied within S3: {count_of(objects, 'object')}")

    def _say(self, line: str) -> None:
        self._console.print(Text(indent_lines(line)), soft_wrap=True)


class BarProgress:
    """A bar for each archive in progress and one for all of them, with rate and remaining time."""

    def __init__(self, console: OutputConsole) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._total = self._bars.add_task("", visible=False)
        self._builds = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[said]}", markup=False, style="dim", table_column=Column(no_wrap=True)),
            console=console,
            transient=True,
        )

    @contextmanager
    def builds(self) -> Iterator[None]:
        """Show the builds; they disappear when all have ended."""
        with self._builds:
            yield

    @contextmanager
    def build(self, name: str) -> Iterator[Tell]:
        """Show a build with the last line of its log."""
        task = self._builds.add_task(name, said="")
        try:
            yield lambda line: self._builds.update(task, said=visible(line), refresh=True)
        finally:
            self._builds.remove_task(task)

    @contextmanager
    def uploads(self, count: int, size: int, subject: str = "archive") -> Iterator[None]:
        """Show the bars; they disappear when all is done."""
        self._bars.reset(self._total, total=size, description=count_of(count, subject), visible=True)
        with self._bars:
            yield

    @contextmanager
    def archive(self, name: str, size: int) -> Iterator[Advance]:
        """Show a bar until it is uploaded."""
        task = self._bars.add_task(name, total=size)

        def advance(count: int) -> None:
            self._bars.advance(task, count)
            self._bars.advance(self._total, count)

        try:
            yield advance
        finally:
            self._bars.remove_task(task)

    @contextmanager
    def copies(self, objects: int) -> Iterator[Advance]:
        """Show one bar for all copies."""
        columns = (
            TextColumn("copies within S3"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self._console, transient=True) as bars:
            task = bars.add_task("", total=objects)
            yield lambda count: bars.advance(task, count)


def shown_size(size: float) -> str:
    """A number of bytes in decimal units, as in the bars: `101.6 MB`."""
    return filesize.decimal(int(size))


def shown_builder(environment: str) -> str:
    """The builder of engines, to append to their number; "" for the real trtexec."""
    return " by a stand-in of trtexec" if environment == LOCAL else ""


def progress_on(console: OutputConsole) -> PublishProgress:
    """Bars if the console is a terminal, else lines."""
    return BarProgress(console) if console.is_terminal else LineProgress(console)


def _ignore(_step: object) -> None:
    """Ignore a step."""
