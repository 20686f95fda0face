"""The short form of a benchmark: `python benchmarks/NAME.py --short`.

It does all of the work once and in small, fails as the long form does where that work is wrong, and checks no
ratio: one small run shows nothing of speed. Tests run it where FLEET_SLOW is set.
"""

from __future__ import annotations

import sys


def is_short() -> bool:
    """Whether the benchmark was started in its short form."""
    return "--short" in sys.argv[1:]
