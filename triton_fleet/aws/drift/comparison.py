"""One resource as it is declared and as it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from triton_fleet.aws.drift.difference import DELETED, Difference


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What differs of one resource, which people know as the subject.

    `restore` brings it back to what is declared; None where only a new stack does. Several resources may
    share one.
    """

    subject: str
    differences: tuple[Difference, ...]
    restore: Callable[[], object] | None

    @property
    def is_deleted(self) -> bool:
        """Whether the resource does not exist any more."""
        return self.differences == (DELETED,)
