"""The `fleet` command."""

from __future__ import annotations

import gc

from fleet.exits import INTERRUPTED, run_to_exit


def run() -> None:
    """Run the command and exit."""
    run_to_exit(_command)


def _command() -> None:
    # Imported here, so that an interruption of it is handled like any other; none of it becomes garbage.
    gc.disable()
    from fleet.cli.commands import app

    gc.freeze()
    gc.enable()
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer's silent exit after an interruption
            raise KeyboardInterrupt from end
        raise
