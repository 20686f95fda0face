"""Ends of a look that leaves the model data incomplete."""

from __future__ import annotations

MAX_CHARACTERS = 1500
"""Of a message; CloudFormation takes 4,096 bytes of an answer with everything around it."""


class PendingError(Exception):
    """Something is under way: look again."""


class AssemblyError(Exception):
    """The model data cannot be assembled: the problem, in whole sentences, and the remedy."""

    def __init__(self, problem: str, remedy: str) -> None:
        limit = MAX_CHARACTERS - len(remedy) - 1
        text = problem if len(problem) <= limit else f"{problem[: limit - 1]}…"
        super().__init__(f"{text} {remedy}")
