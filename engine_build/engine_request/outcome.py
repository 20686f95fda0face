"""Runs the script's work and returns its exit code, with nothing but Python."""

from __future__ import annotations

import errno
import io
import signal
import sys
import traceback
from collections.abc import Callable

from .failure import report_failure
from .problems import CANCELLATION, OTHER_FAILURE, BuildError, Cancellation

SIGNALS = (signal.SIGTERM, signal.SIGINT)


def outcome(work: Callable[[], None], record: Callable[[BuildError], None] = lambda error: None) -> int:
    """Do the work, and report its outcome; `record` gets the reason of a failure.

    Returns:
        0, or the exit code of the problem.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # a log gets each line as it is written
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    for number in SIGNALS:
        signal.signal(number, _cancel)
    try:
        work()
    except (Exception, Cancellation) as error:
        _ignore_signals()
        failure = _as_build_error(error)
        report_failure(failure)
        record(failure)
        return failure.problem.exit_code
    return 0


def _cancel(number: int, frame: object) -> None:
    _ignore_signals()
    raise Cancellation


def _ignore_signals() -> None:
    """One more signal must not interrupt the clean-up or the report of a failure."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _as_build_error(error: BaseException) -> BuildError:
    if isinstance(error, BuildError):
        return error
    if isinstance(error, Cancellation):
        return BuildError(CANCELLATION, "a signal stopped the build")
    traceback.print_exception(error)
    full = isinstance(error, OSError) and error.errno == errno.ENOSPC
    return BuildError(
        OTHER_FAILURE,
        f"{type(error).__name__}: {error}",
        remedy="build on an instance with a larger disk" if full else "",
        log=traceback.format_exception(error)[-1:],
    )
