"""Versions, compared number by number."""

from __future__ import annotations

DIGITS = 9
"""No part of a version has more; what has comes from a lock that was not written by us."""


def numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version such as "10.9.0.34"; parts that are none are left out."""
    return tuple(int(part) for part in version.split(".") if part.isdecimal() and len(part) <= DIGITS)


def versions_differ(one: str, other: str) -> bool:
    """Whether two versions differ in a part that both have: `10.9.0` may be `10.9.0.34`."""
    return any(a != b for a, b in zip(numbers(one), numbers(other), strict=False))
