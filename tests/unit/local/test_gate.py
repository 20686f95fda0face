"""Several may be inside at one time, or one alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager

import pytest

from triton_fleet.local.multi_model.residency import Gate


@pytest.fixture
def others() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def enter(way: Callable[[], AbstractContextManager[None]]) -> str:
    with way():
        return "inside"


def waits(entering: Future[str]) -> bool:
    """Whether it is not inside, after time enough to be."""
    done = threading.Event()
    entering.add_done_callback(lambda _: done.set())
    return not done.wait(0.2)


def test_several_may_be_inside_together(others: ThreadPoolExecutor) -> None:
    gate = Gate()
    with gate.share():
        assert others.submit(enter, gate.share).result(10) == "inside"


def test_who_must_be_alone_waits_for_those_inside(others: ThreadPoolExecutor) -> None:
    gate = Gate()
    with gate.share():
        alone = others.submit(enter, gate.alone)
        assert waits(alone)
    assert alone.result(10) == "inside"


def test_others_wait_for_who_is_alone(others: ThreadPoolExecutor) -> None:
    gate = Gate()
    with gate.alone():
        waiting = [others.submit(enter, way) for way in (gate.share, gate.alone)]
        assert all(waits(each) for each in waiting)
    assert [each.result(10) for each in waiting] == ["inside"] * 2
