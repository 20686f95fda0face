"""One run of the script, from its work to the exit code; it needs nothing but Python."""

from __future__ import annotations

import errno
import io
import signal
import sys
import traceback
from collections.abc import Callable

from .failure import tell
from .problems import CANCELLED, FAILED, BuildError, Cancelled

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def outcome(work: Callable[[], None], record: Callable[[BuildError], None] = lambda error: None) -> int:
    """Do the work, and say how it ended; `record` gets the reason of a failure.

    Returns:
        0, or the exit code of the problem.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # a log gets each line as it is said
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    for number in SIGNALS:
        signal.signal(number, _cancel)
    try:
        work()
    except (Exception, Cancelled) as error:
        _ignore_signals()
        reason = _as_build_error(error)
        tell(reason)
        record(reason)
        return reason.problem.exit_code
    return 0


def _cancel(number: int, frame: object) -> None:
    _ignore_signals()
    raise Cancelled


def _ignore_signals() -> None:
    """One more is not to break off the clearing up, nor what is said of a failure."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)


def _as_build_error(error: BaseException) -> BuildError:
    if isinstance(error, BuildError):
        return error
    if isinstance(error, Cancelled):
        return BuildError(CANCELLED, "a signal stopped the build")
    traceback.print_exception(error)
    full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    return BuildError(
        FAILED,
        f"{type(error).__name__}: {error}",
        remedy="build on an instance with a larger disk" if full else "",
        log=traceback.format_exception(error)[-1:],
    )
