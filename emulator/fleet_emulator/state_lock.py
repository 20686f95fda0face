"""One thread at a time works on moto's state, which is plain dictionaries without locks.

Every request and every step of a stack's run takes a turn. Whoever waits for the world outside (a Triton that
starts, a thread) hands the turn over meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_turn = threading.Lock()


@contextmanager
def turn() -> Iterator[None]:
    """Work on moto's state alone; turns do not nest."""
    with _turn:
        yield


@contextmanager
def handed_over() -> Iterator[None]:
    """Within one's turn: let others work meanwhile."""
    _turn.release()
    try:
        yield
    finally:
        _turn.acquire()
