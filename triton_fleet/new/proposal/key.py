"""A key of a spec that is proposed, with why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Key:
    """One key at the top of the spec.

    Attributes:
        value: As the spec's reader has it: text, numbers, lists and mappings.
        why: Sentences that stand above it.
        why_items: Of a list: sentences above its items, by their number.
    """

    name: str
    value: object
    why: tuple[str, ...] = ()
    why_items: Mapping[int, tuple[str, ...]] | None = None
