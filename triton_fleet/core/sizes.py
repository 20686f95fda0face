"""Sizes and numbers of things as people read them."""

from __future__ import annotations

UNITS = ("B", "KiB", "MiB", "GiB")
STEP = 1024


def format_size(size: float) -> str:
    """The size in the largest unit of which there is one, such as `92.7 MiB`; the units of local.yaml."""
    unit = 0
    while size >= STEP and unit < len(UNITS) - 1:
        size, unit = size / STEP, unit + 1
    return f"{size:.1f} {UNITS[unit]}" if unit else f"{size:g} {UNITS[unit]}"


def count_of(number: int, noun: str) -> str:
    """A number of things whose plural ends with s: `1 archive`, `0 archives`."""
    return f"{number} {noun}{'s' * (number != 1)}"
