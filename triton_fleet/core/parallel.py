"""The same work on many things at one time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import TypeVar

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
        futures = [pool.submit(work, argument) for argument in inputs]
        try:
            for completed_future in _completed_futures(futures):
                if not isinstance(completed_future.exception(), FindingsError):
                    completed_future.result()
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return all_of(futures, lambda future: future.result())


def _completed_futures(futures: Iterable[Future[T]]) -> Iterator[Future[T]]:
    """The futures as they are done."""
    remainder = set(futures)
    while remainder:
        with suppress(TimeoutError):
            for future in as_completed(list(remainder), SECONDS_DEAF):
                remainder.discard(future)
                yield future
