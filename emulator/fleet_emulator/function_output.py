"""The output of a function: in the embedded AWS's log, and kept for its log group."""

from __future__ import annotations

import builtins
import io
import logging
from contextvars import ContextVar
from typing import Any

LOGGER = "fleet_emulator.functions"
"""Functions are modules below this name, so that what they log comes here by itself."""

_lines: ContextVar[list[str]] = ContextVar("lines of the call in this thread")


def keep_lines(lines: list[str]) -> None:
    """Add to `lines` what this thread logs from now on."""
    _lines.set(lines)


class LineKeeper(logging.Handler):
    """Gives each line to the call in whose thread it was logged."""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line; one from a thread that a function started belongs to no call."""
        lines = _lines.get(None)
        if lines is not None:
            lines.append(self.format(record))


def captured_print(*values: Any, **options: Any) -> None:
    """The `print` of functions, where many run in one process: into the log unless it goes to a file."""
    if options.get("file") is not None:
        builtins.print(*values, **options)
        return
    text = io.StringIO()
    builtins.print(*values, **options | {"file": text})
    logging.getLogger(LOGGER).info(text.getvalue().rstrip("\n"))
