"""Signals that end a command as Ctrl-C does: it first ends what it started."""

from __future__ import annotations

import signal
from typing import NoReturn


def end_like_ctrl_c() -> None:
    """Treat SIGTERM and SIGHUP as interruptions from now on."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt
