"""AWS's limits on what a spec can ask for, by name."""

from __future__ import annotations

from fleet.catalog.data_file import data_file


def limit(name: str) -> int:
    """A limit, in the unit that its name ends with.

    Raises:
        KeyError: the catalog does not have it.
    """
    return int(data_file("limits.yaml")["limits"][name]["value"])


def limits() -> list[str]:
    """The name of every limit."""
    return list(data_file("limits.yaml")["limits"])
