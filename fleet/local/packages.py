"""How to install the Python packages that the local fleet needs."""

from __future__ import annotations

from fleet.scaffold.pin import install_command


def get_local() -> str:
    """The remedy where something of the extra `local` is missing."""
    return f"run `make setup`; without a Makefile: {install_command('[local]')}"
