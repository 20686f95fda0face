"""How a check ends before it is passed."""

from __future__ import annotations


class CheckError(Exception):
    """The check has failed: what is wrong, and what to do about it; each whole sentences."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what} {remedy}")
        self.what, self.remedy = what, remedy


class NotYet(Exception):
    """The check cannot be made at the moment; the words say what is waited for."""
