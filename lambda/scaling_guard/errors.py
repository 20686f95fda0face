"""How a call of the guard ends before its work is done."""

from __future__ import annotations


class GuardError(Exception):
    """A failure: what is wrong with which endpoint, and the remedy; each whole sentences."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what} {remedy}")
        self.what, self.remedy = what, remedy


class NotYet(Exception):
    """The work cannot be done at the moment; the words name what is waited for."""
