"""Work on many items, on all cores."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, TypeVar

I = TypeVar("I")  # noqa: E741 - input
T = TypeVar("T")
B = TypeVar("B")
MIN_ITEMS_FOR_PROCESSES = 64
"""So many items are done sooner than processes are started and their results brought back."""
CHUNKS = 32
"""Parts of the work for each core: no core waits long for the last part of another."""
_work: Callable[[int], Any] | None = None
"""What the processes do: they are forked, so that only a number and a result go between them."""


def all_in_processes(
    items: Sequence[I], work: Callable[[I], T], beside: Callable[[], B]
) -> tuple[list[T], B]:
    """The result of each item, in their order, and what this process does in the meantime.

    Results and errors of items have to be picklable. Few items, or a machine with one core or without a safe
    fork, are done in this process, one after the other.
    """
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if cores == 1 or len(items) <= MIN_ITEMS_FOR_PROCESSES:
        return [work(item) for item in items], beside()
    first = work(items[0])  # the processes share all that it imports and reads of the catalog
    global _work
    _work = lambda index: work(items[index])  # noqa: E731 - a process finds it by its name
    gc.freeze()  # what exists by now stays shared: a collection would write to its pages
    try:
        with ProcessPoolExecutor(cores, get_context("fork")) as pool:
            results = pool.map(_do, range(1, len(items)), chunksize=max(1, len(items) // (cores * CHUNKS)))
            beside_result = beside()
            return [first, *results], beside_result
    finally:
        gc.unfreeze()
        _work = None


def _do(index: int) -> Any:
    assert _work is not None  # noqa: S101 - set before the fork
    return _work(index)
