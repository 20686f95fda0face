"""A validator's message with the remedy."""

from __future__ import annotations


class Mistake(ValueError):
    """What is wrong with a value, and what to write in its place.

    `below` leads from what is validated to the value that is meant: keys and indexes.
    """

    def __init__(self, problem: str, hint: str, below: tuple[str | int, ...] = ()) -> None:
        super().__init__(problem)
        self.hint, self.below = hint, below
