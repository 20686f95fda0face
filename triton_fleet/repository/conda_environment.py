"""A Python environment packed by conda-pack, as the Python backend unpacks and uses it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CondaEnvironment:
    """The content of a packed environment; `problem` is why it cannot be read, or empty.

    `activate` is the path of bin/activate in it, "" if there is none; `python` is the minor version of its
    interpreter, such as "3.12", "" if it has none.
    """

    activate: str = ""
    python: str = ""
    problem: str = ""
