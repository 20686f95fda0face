"""The `fleet` command."""

from __future__ import annotations

import gc

from fleet.exits import INTERRUPTED, run_to_exit


def run() -> None:
    """Run the command and exit."""
    run_to_exit(_command)


def _command() -> None:
    # Imported here: an interruption meanwhile is one like any other. Nothing of it is ever garbage.
    gc.disable()
    from fleet.cli.commands import app

    gc.freeze()
    gc.enable()
    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTED:  # typer has made this of the interruption, and said nothing
            raise KeyboardInterrupt from end
        raise
