"""Parts: their number, their boundaries, and the memory that they share."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.uploading import MIB, NOISE, PLACE, UploadBucket, is_abort
from triton_fleet.store.upload.object import (
    PARTS,
    SMALLEST_PART,
    CancelledError,
    MemoryBudget,
    ObjectWriter,
    part_size,
)

PART = 5 * MIB
CONTENT = NOISE * 11
PAUSE_SECONDS = 0.3
"""Seconds in which what must not happen would have happened."""


@pytest.mark.parametrize("step", [1_000_003, 11 * MIB], ids=["small pieces", "one piece"])
@pytest.mark.parametrize(
    ("size", "parts"),
    [(0, 0), (1, 0), (PART - 1, 0), (PART, 0), (PART + 1, 2), (2 * PART, 2), (2 * PART + 1, 3)],
)
def test_what_fits_into_one_part_is_put_and_what_does_not_comes_by_as_many_as_it_takes(
    bucket: UploadBucket, size: int, parts: int, step: int
) -> None:
    budget = MemoryBudget(PART)
    with ThreadPoolExecutor(1) as pool:
        writer = ObjectWriter(bucket.s3, PLACE, {}, part=PART, budget=budget, pool=pool)
        for start in range(0, size, step):
            writer.write(CONTENT[start : min(start + step, size)])
        writer.commit(only_if_new=True)
    assert bucket.body(PLACE.key) == CONTENT[:size]
    assert bucket.proxy.count(lambda request: "partNumber=" in request.path) == parts
    budget.take(PART)  # all of it was given back


@given(st.integers(0, 600 << 30))
def test_parts_are_as_many_as_s3_takes_and_no_larger_than_they_need_be(size: int) -> None:
    part = part_size(size)
    assert part * PARTS >= size
    assert part == SMALLEST_PART or (part - MIB) * PARTS < size


def test_memory_that_is_taken_is_waited_for_until_it_is_given_back() -> None:
    budget, event = MemoryBudget(10), threading.Event()
    budget.take(8)

    def take() -> None:
        budget.take(5)
        event.set()

    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(take)
        code = event.wait(PAUSE_SECONDS)
        budget.give_back(8)
        second.result()
    assert not code


def test_an_upload_is_ended_only_when_its_parts_under_way_have_come(bucket: UploadBucket) -> None:
    part_came, part_may_go = bucket.proxy.hold(lambda request: request.is_part(1))
    end_came, end_may_go = bucket.proxy.hold(is_abort)
    end_may_go.set()
    with ThreadPoolExecutor(3) as pool:
        writer = ObjectWriter(bucket.s3, PLACE, {}, part=PART, budget=MemoryBudget(3 * PART), pool=pool)
        writer.write(CONTENT)
        part_came.wait()
        future = pool.submit(writer.abort)
        code = end_came.wait(PAUSE_SECONDS)
        part_may_go.set()
        future.result()
    assert not code
    assert bucket.is_empty


def test_who_waits_for_memory_is_told_that_the_command_ends() -> None:
    budget = MemoryBudget(10)
    budget.take(10)
    with ThreadPoolExecutor(1) as pool:
        waiting_future = pool.submit(budget.take, 1)
        budget.cancel()
        with pytest.raises(CancelledError):
            waiting_future.result()
