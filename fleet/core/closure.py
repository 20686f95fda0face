"""What is reached from some names by the names that each leads to."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable


def closure(names: Iterable[str], following: Callable[[str], Iterable[str]]) -> list[str]:
    """The names, and all that they lead to, the nearest first and each once."""
    reached = dict.fromkeys(names)
    waiting = deque(reached)
    while waiting:
        new = [name for name in following(waiting.popleft()) if name not in reached]
        reached |= dict.fromkeys(new)
        waiting += new
    return list(reached)
