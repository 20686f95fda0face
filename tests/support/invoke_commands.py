"""`fleet invoke` for the endpoint of a fleet folder."""

from __future__ import annotations

from triton_fleet.cli.commands import app
from triton_fleet.exits import run_to_exit

SENTENCE = 'INPUT0=[["a sentence"]]'


def fleet(*arguments: str) -> int:
    """The exit code of `fleet ARGUMENTS`."""
    try:
        run_to_exit(lambda: app(list(arguments), standalone_mode=False))
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def invoke(*arguments: str) -> int:
    return fleet("invoke", "sentences", *arguments)
