"""The errors that end a check before it passes."""

from __future__ import annotations


class CheckError(Exception):
    """The check has failed: the problem and its remedy, in whole sentences."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem} {remedy}")
        self.problem, self.remedy = problem, remedy


class PendingError(Exception):
    """The check cannot be made at the moment; its text names what is waited for."""
