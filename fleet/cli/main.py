"""The `fleet` command, and how every mistake leaves it."""

from __future__ import annotations

import sys

from fleet.findings import CannotRunError, FindingsError

INPUT_IS_WRONG, COULD_NOT_RUN, INTERRUPTED = 1, 2, 130


def run() -> None:
    """Run the command; exit with 0 when clean, 1 when the input is wrong, 2 when it could not run.

    The subcommands are imported inside: an interruption meanwhile is an interruption like any other.
    """
    try:
        from fleet.cli.commands import app

        app()
    except FindingsError as error:
        from fleet.show_findings import show_findings

        show_findings(error.findings)
        sys.exit(INPUT_IS_WRONG)
    except CannotRunError as error:
        sys.exit(_could_not_run(str(error)))
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.exit(_could_not_run(f"{place}{error.strerror or error}"))
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _could_not_run(problem: str) -> int:
    print(f"cannot run: {problem}", file=sys.stderr)
    return COULD_NOT_RUN
