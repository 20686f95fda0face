"""Several may be inside at one time, or one alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from triton_fleet.local.multi_model.residency import Gate


@pytest.fixture
def worker_pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def enter(way: Callable[[], AbstractContextManager[None]]) -> str:
    with way():
        return "inside"


def waits(future: Future[str]) -> bool:
    """Whether it is not inside, after time enough to be."""
    event = threading.Event()
    future.add_done_callback(lambda _: event.set())
    return not event.wait(0.2)


def test_several_may_be_inside_together(worker_pool: ThreadPoolExecutor) -> None:
    gate = Gate()
    with gate.share():
        assert worker_pool.submit(enter, gate.share).result(10) == "inside"


def test_who_must_be_alone_waits_for_those_inside(worker_pool: ThreadPoolExecutor) -> None:
    gate = Gate()
    with gate.share():
        alone = worker_pool.submit(enter, gate.alone)
        assert waits(alone)
    assert alone.result(10) == "inside"


def test_others_wait_for_who_is_alone(worker_pool: ThreadPoolExecutor) -> None:
    gate = Gate()
    with gate.alone():
        waiting_futures = [worker_pool.submit(enter, way) for way in (gate.share, gate.alone)]
        assert all(waits(waiting_future) for waiting_future in waiting_futures)
    assert [waiting_future.result(10) for waiting_future in waiting_futures] == ["inside"] * 2
