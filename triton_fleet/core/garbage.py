"""When Python looks for garbage."""

from __future__ import annotations

import gc

THRESHOLDS = (50_000, 20, 50)
"""Few cycles are made; Python's own thresholds cost a check a seventh of its time."""


def collect_rarely() -> None:
    """Look for garbage, rarely, and never among what exists by now: none of it becomes any."""
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    gc.enable()
