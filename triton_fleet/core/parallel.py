"""The same work on many things at one time."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import suppress
from multiprocessing import get_context
from typing import Any, TypeVar

from triton_fleet.findings import FindingsError, all_of

I = TypeVar("I")  # noqa: E741 - input
T = TypeVar("T")

SECONDS_DEAF = 1.0
"""A signal does not always interrupt a wait for a lock: Ctrl-C works after this at the latest."""
THREADS = max(2, os.cpu_count() or 1)


def all_in_parallel(
    inputs: Iterable[I],
    work: Callable[[I], T],
    threads: int = THREADS,
    stop: Callable[[], None] = lambda: None,
) -> list[T]:
    """The results in the order of the inputs; the findings of all are raised together.

    What else goes wrong, or an interruption, ends it as soon as the work that is under way is done; `stop` is
    called then, to hurry that.
    """
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, each) for each in inputs]
        try:
            for done in _completed_futures(futures):
                if not isinstance(done.exception(), FindingsError):
                    done.result()
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return all_of(futures, lambda future: future.result())


def _completed_futures(futures: Iterable[Future[T]]) -> Iterator[Future[T]]:
    """The futures as they are done."""
    pending = set(futures)
    while pending:
        with suppress(TimeoutError):
            for done in as_completed(list(pending), SECONDS_DEAF):
                pending.discard(done)
                yield done


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
    global _work
    _work = lambda index: work(items[index])  # noqa: E731 - a process finds it by its name
    gc.freeze()  # what exists by now stays shared: a collection would write to its pages
    try:
        with ProcessPoolExecutor(cores, get_context("fork")) as pool:
            results = pool.map(_do, range(len(items)), chunksize=max(1, len(items) // (cores * CHUNKS)))
            beside_result = beside()
            return list(results), beside_result
    finally:
        gc.unfreeze()
        _work = None


def _do(index: int) -> Any:
    assert _work is not None  # noqa: S101 - set before the fork
    return _work(index)
