"""The progress that is shown while archives are published."""

from __future__ import annotations

import io
import re
import threading
from concurrent.futures import CancelledError

import pytest

from triton_fleet.printers.console import OutputConsole
from triton_fleet.store.progress import LineProgress, PublishProgress, progress_on, shown_size


class WrittenText(io.StringIO):
    """A text that was written; it can be waited for a part to appear."""

    def __init__(self) -> None:
        super().__init__()
        self._change = threading.Condition()

    def write(self, text: str) -> int:
        with self._change:
            self._change.notify_all()
            return super().write(text)

    def shows(self, text: str) -> bool:
        with self._change:
            return self._change.wait_for(lambda: text in self.getvalue(), 10)


def console(*, terminal: bool) -> tuple[OutputConsole, WrittenText]:
    output = WrittenText()
    return OutputConsole(file=output, force_terminal=terminal, width=100, color_system=None), output


def publish_two(progress: PublishProgress) -> None:
    with progress.uploads(2, 3_000_000):
        for name, size in (("zoo/a", 1_000_000), ("zoo/b", 2_000_000)):
            with progress.archive(name, size) as advance:
                advance(size // 2)
                advance(size // 2)
    with progress.copies(2) as advance:
        advance(2)


def test_without_a_terminal_each_archive_has_a_line_when_it_is_done() -> None:
    plain, output = console(terminal=False)
    publish_two(progress_on(plain))
    first, second, copies = output.getvalue().splitlines()
    assert re.fullmatch(r"uploaded zoo/a: 1\.0 MB in \d+\.\d s, [\d.,]+ .B/s", first)
    assert second.startswith("uploaded zoo/b: 2.0 MB in ")
    assert copies == "copied within S3: 2 objects"


def test_an_engine_whose_build_is_interrupted_did_not_fail() -> None:
    plain, output = console(terminal=False)
    with pytest.raises(CancelledError), LineProgress(plain).build("engine zoo/bert"):
        raise CancelledError
    assert output.getvalue().splitlines() == [
        "engine zoo/bert: building",
        "engine zoo/bert: stopped after 0 s",
    ]


def test_an_archive_that_fails_has_no_line() -> None:
    plain, output = console(terminal=False)
    with pytest.raises(OSError, match="full"), LineProgress(plain).archive("zoo/a", 1):
        raise OSError("the disk is full")
    assert output.getvalue() == ""


def test_on_a_terminal_there_is_a_bar_for_each_archive_and_one_for_all() -> None:
    terminal, output = console(terminal=True)
    progress = progress_on(terminal)
    with progress.uploads(2, 4_000_000), progress.archive("zoo/[bold]a", 3_000_000) as advance:
        advance(1_500_000)
        for text in ("zoo/[bold]a", "1.5/3.0 MB", "2 archives", "1.5/4.0 MB"):
            assert output.shows(text), text


def test_copies_have_a_bar_of_their_own() -> None:
    terminal, output = console(terminal=True)
    with progress_on(terminal).copies(1200) as advance:
        advance(700)
    assert "700/1200" in output.getvalue()


@pytest.mark.parametrize(("size", "output"), [(0, "0 bytes"), (101_600_000, "101.6 MB"), (5.2e9, "5.2 GB")])
def test_sizes_are_shown_in_decimal_units(size: float, output: str) -> None:
    assert shown_size(size) == output
