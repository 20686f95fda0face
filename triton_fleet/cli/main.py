"""The `fleet` command."""

from __future__ import annotations

from triton_fleet.exits import INTERRUPTION, run_to_exit


def run() -> None:
    """Run the command and exit."""
    run_to_exit(_command)


def _command() -> None:
    # Imported here, so that an interruption of it is handled like any other.
    from triton_fleet.cli.commands import app

    try:
        app()
    except SystemExit as end:
        if end.code == INTERRUPTION:  # typer's silent exit after an interruption
            raise KeyboardInterrupt from end
        raise
