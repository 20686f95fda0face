"""Sizes in bytes as people read them."""

from __future__ import annotations

UNITS = ("B", "KiB", "MiB", "GiB")
STEP = 1024


def format_size(size: float) -> str:
    """The size in the largest unit of which there is one, such as `92.7 MiB`; the units of local.yaml."""
    unit = 0
    while size >= STEP and unit < len(UNITS) - 1:
        size, unit = size / STEP, unit + 1
    return f"{size:.1f} {UNITS[unit]}" if unit else f"{size:g} {UNITS[unit]}"
