"""How a command ends: 0 clean, 1 the input is wrong, 2 it could not run, 130 it was interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from triton_fleet.findings import CannotRunError, FindingsError, SeveralFailuresError
from triton_fleet.printers.lines import print_error

INPUT_IS_WRONG, COULD_NOT_RUN, INTERRUPTION = 1, 2, 130


def run_to_exit(work: Callable[[], None]) -> None:
    """Do the work; a failure is printed on standard error and becomes the exit code, never a traceback."""
    try:
        work()
    except FindingsError as error:
        from triton_fleet.printers.human import show_findings  # needs rich, which may be what is missing

        show_findings(error.findings)
        sys.exit(INPUT_IS_WRONG)
    except CannotRunError as error:
        sys.exit(_could_not_run(error.problem, error.remedy))
    except SeveralFailuresError as error:
        from triton_fleet.printers.human import show_findings

        if error.findings:
            show_findings(error.findings)
        for failure in error.other_failures:
            _could_not_run(failure.problem, failure.remedy)
        sys.exit(INPUT_IS_WRONG if error.findings else COULD_NOT_RUN)
    except ModuleNotFoundError as error:
        from triton_fleet.product.extras import missing_package

        if (absence := missing_package(error)) is None:
            raise
        sys.exit(_could_not_run(absence.problem, absence.remedy))
    except OSError as error:
        problem = _file_problem(error)
        sys.exit(_could_not_run(problem.problem, problem.remedy))
    except KeyboardInterrupt:
        print_error("")  # the terminal has written ^C
        print_error("interrupted: run the command again to continue")
        sys.exit(INTERRUPTION)


def _file_problem(error: OSError) -> CannotRunError:
    from triton_fleet.core.files import FULL, UNWRITABLE, write_problem

    file = error.filename
    if isinstance(file, str) and error.errno in UNWRITABLE | FULL and not _is_unreadable(file):
        return write_problem(file, error)
    prefix = f"{file}: " if file else ""
    return CannotRunError(f"{prefix}{error.strerror or error}", "")


def _is_unreadable(file: str) -> bool:
    return Path(file).exists() and not os.access(file, os.R_OK)


def _could_not_run(problem: str, remedy: str = "") -> int:
    print_error(f"cannot run: {problem}")
    if remedy:
        print_error(f"  remedy: {remedy}")
    return COULD_NOT_RUN
