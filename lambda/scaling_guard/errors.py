"""The errors that end a call of the guard before its work is done."""

from __future__ import annotations


class GuardError(Exception):
    """A failure: the problem of an endpoint and its remedy, in whole sentences."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem} {remedy}")
        self.problem, self.remedy = problem, remedy


class PendingError(Exception):
    """The work cannot be done at the moment; its text names what is waited for."""
