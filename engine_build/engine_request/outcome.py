"""Runs the script's work, reports its failure on the screen and to the job, and returns its exit code."""

from __future__ import annotations

import errno
import io
import signal
import sys
import traceback
from collections.abc import Callable

from .host import job_folder
from .problems import CANCELLATION, OTHER_FAILURE, BuildError, Cancellation

MAX_CHARACTERS = 1000
"""A job's ExitMessage and FailureReason have 1,024 (botocore)."""


def report_failure(error: BuildError) -> None:
    """Report a failure in the log and in the job's status."""
    print(f"error: {error.problem.name}: {error.message}\n{error.remedy}", file=sys.stderr)
    folder = job_folder()
    if folder is None:
        return
    try:
        (folder / "output").mkdir(exist_ok=True)
        for name in ("message", "failure"):
            (folder / "output" / name).write_text(
                f"{error.problem.name}: {error.message}"[:MAX_CHARACTERS], "utf-8"
            )
    except OSError as refusal:
        print(f"the job's status could not be written: {refusal}", file=sys.stderr)


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
