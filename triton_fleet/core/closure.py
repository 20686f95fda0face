"""Names with all that they lead to, step by step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable


def closure(names: Iterable[str], successors: Callable[[str], Iterable[str]]) -> list[str]:
    """The names, their successors and theirs, the nearest first and each once."""
    members = dict.fromkeys(names)
    queue = deque(members)
    while queue:
        nearest = dict.fromkeys(name for name in successors(queue.popleft()) if name not in members)
        members |= nearest
        queue += nearest
    return list(members)
