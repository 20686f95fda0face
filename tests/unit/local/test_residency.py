"""Who may use a target model, who waits, and who leaves; the loading itself is a stand-in that tests hold up."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from urllib3 import HTTPConnectionPool

from triton_fleet.local.containers import LackOfMemory, ModelRefusal, Refusal
from triton_fleet.local.multi_model.models import Model, ModelState, Neighbors
from triton_fleet.local.multi_model.residency import Residency


class Run:
    """One run of Triton."""

    pool = HTTPConnectionPool("127.0.0.1", 1)


class Memory:
    """Room for so many models; a load waits for `may_load`, and says in `loading` that it has begun.

    Triton refuses a model when there are `tolerated` too many.
    """

    def __init__(self, room: int, tolerated_number: int = 0) -> None:
        self.room = room
        self.present = Run()
        self.inside: list[str] = []
        self.loads: list[str] = []
        self.may_load = threading.Event()
        self.may_load.set()
        self.loading = threading.Semaphore(0)
        self.failure: Exception | None = None
        self.tolerance = tolerated_number
        self.huge = ""

    def run(self) -> Run:
        return self.present

    def fetch(self, model: Model, rest: Neighbors) -> None:
        may_load = self.may_load
        self.loading.release()
        may_load.wait(10)
        if self.failure:
            raise self.failure

    def load(self, model: Model) -> None:
        if len(self.inside) >= self.room + self.tolerance:
            raise LackOfMemory("full")
        self.inside.append(model.target)
        self.loads.append(model.target)

    def fits(self, model: Model, models: Sequence[Model]) -> bool:
        return len(models) < self.room

    def require_room(self, model: Model) -> None:
        if model.target == self.huge:
            raise LackOfMemory("too large")

    def unload(self, model: Model) -> None:
        assert model.users == 0 or model.state is ModelState.LOADING or model.failure
        self.inside.remove(model.target)


@pytest.fixture(params=[0, 10], ids=["Triton refuses", "the limit is passed"])
def memory(request: pytest.FixtureRequest) -> Memory:
    return Memory(room=2, tolerated_number=request.param)


@pytest.fixture
def residency(memory: Memory) -> Iterator[Residency]:
    residency = Residency(memory, lambda _measure, _value: None)
    yield residency
    memory.may_load.set()
    residency.close()


@pytest.fixture
def worker_pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


def use(residency: Residency, target: str, seconds: float = 10.0) -> str:
    with residency.use(target, seconds) as model:
        assert model.state is not ModelState.LOADING
        return model.target


def test_a_call_that_waits_too_long_is_throttled_and_the_load_goes_on(
    residency: Residency, memory: Memory
) -> None:
    memory.may_load.clear()
    with pytest.raises(Refusal, match="still being downloaded or loaded") as caught:
        use(residency, "a", seconds=0.01)
    assert (caught.value.status, caught.value.code) == (429, "ModelNotReadyException")
    memory.may_load.set()
    assert use(residency, "a") == "a"
    assert memory.loads == ["a"]


def test_all_who_wait_for_a_target_share_its_load(
    residency: Residency, memory: Memory, worker_pool: ThreadPoolExecutor
) -> None:
    memory.may_load.clear()
    waiting_futures = [worker_pool.submit(use, residency, "a") for _ in range(8)]
    memory.loading.acquire()
    memory.may_load.set()
    assert [waiting_future.result(10) for waiting_future in waiting_futures] == ["a"] * 8
    assert memory.loads == ["a"]


def test_all_who_wait_for_a_target_share_its_failure_and_the_next_call_tries_again(
    residency: Residency, memory: Memory, worker_pool: ThreadPoolExecutor
) -> None:
    memory.may_load.clear()
    memory.failure = ModelRefusal(400, "spoilt")
    waiting_futures = [worker_pool.submit(use, residency, "a") for _ in range(3)]
    memory.loading.acquire()
    memory.may_load.set()
    for waiting_future in waiting_futures:
        with pytest.raises(ModelRefusal, match="spoilt"):
            waiting_future.result(10)
    memory.failure = None
    assert use(residency, "a") == "a"


def test_the_least_recently_used_leaves_and_idle_ones_before_busy_ones(
    residency: Residency, memory: Memory
) -> None:
    use(residency, "a")
    use(residency, "b")
    use(residency, "a")
    use(residency, "c")
    assert memory.inside == ["a", "c"]
    with residency.use("a", 10.0):
        use(residency, "c")
        use(residency, "d")
        assert memory.inside == ["a", "d"]
    assert list(residency.evictions) == ["b", "c"]


def test_a_target_in_use_stays_until_its_users_have_left(
    memory: Memory, worker_pool: ThreadPoolExecutor
) -> None:
    memory.room = 1
    residency = Residency(memory, lambda _measure, _value: None)
    with residency.use("a", 10.0):
        memory.loading.acquire()
        waiting_future: Future[Any] = worker_pool.submit(use, residency, "b")
        memory.loading.acquire()
        late: Future[Any] = worker_pool.submit(use, residency, "a")
        assert "a" in memory.inside
    assert (waiting_future.result(10), late.result(10)) == ("b", "a")
    residency.close()


def test_another_run_of_triton_has_none_of_the_models(residency: Residency, memory: Memory) -> None:
    use(residency, "a")
    memory.present = Run()
    memory.inside.clear()
    assert residency.resident_models() == []
    assert use(residency, "a") == "a"
    assert memory.loads == ["a", "a"]


def test_who_waits_when_the_endpoint_ends_is_told(memory: Memory, worker_pool: ThreadPoolExecutor) -> None:
    residency = Residency(memory, lambda _measure, _value: None)
    memory.may_load.clear()
    waiting_future = worker_pool.submit(use, residency, "a")
    memory.loading.acquire()
    future = worker_pool.submit(residency.close)
    with pytest.raises(ModelRefusal, match="The endpoint was stopped"):
        waiting_future.result(10)
    memory.may_load.set()
    future.result(10)
    with pytest.raises(ModelRefusal, match="The endpoint was stopped"):
        use(residency, "b")


def test_a_defect_of_a_load_is_told_and_blocks_nobody(residency: Residency, memory: Memory) -> None:
    memory.failure = RuntimeError("bug")
    with pytest.raises(ModelRefusal, match="this machine could not load a: bug"):
        use(residency, "a")
    memory.failure = None
    assert use(residency, "b") == "b"


def test_a_load_that_hangs_keeps_no_other_target_waiting(
    residency: Residency, memory: Memory, worker_pool: ThreadPoolExecutor
) -> None:
    memory.may_load.clear()
    stuck = worker_pool.submit(use, residency, "stuck")
    memory.loading.acquire()
    limits = memory.may_load
    memory.may_load = threading.Event()
    memory.may_load.set()
    assert use(residency, "a") == "a"
    assert not stuck.done()
    limits.set()
    assert stuck.result(10) == "stuck"


def test_targets_without_room_beside_each_other_take_turns(
    memory: Memory, worker_pool: ThreadPoolExecutor
) -> None:
    memory.room = 1
    residency = Residency(memory, lambda _measure, _value: None)
    targets = [f"t{index % 5}" for index in range(100)]
    assert [
        future.result(30) for future in [worker_pool.submit(use, residency, t) for t in targets]
    ] == targets
    assert len(memory.inside) == 1
    residency.close()


def test_a_model_too_large_for_all_memory_is_refused_and_sends_no_other_away(memory: Memory) -> None:
    residency = Residency(memory, lambda _measure, _value: None)
    use(residency, "b")
    memory.huge = "a"
    with pytest.raises(LackOfMemory):
        use(residency, "a")
    assert (memory.inside, [model.target for model in residency.resident_models()]) == (["b"], ["b"])
    residency.close()


def test_a_target_that_is_forgotten_is_loaded_anew(residency: Residency, memory: Memory) -> None:
    use(residency, "a")
    forgotten: list[str] = []
    residency.forget("a", lambda: forgotten.append("a"))
    assert use(residency, "a") == "a"
    assert (forgotten, memory.loads) == (["a"], ["a", "a"])
    residency.forget("unknown", lambda: forgotten.append("unknown"))
    assert forgotten == ["a", "unknown"]


def test_of_many_who_lack_memory_at_one_time_one_eviction_is_for_all(
    residency: Residency, memory: Memory, worker_pool: ThreadPoolExecutor
) -> None:
    memory.room = 8
    for target in "abcdefgh":
        use(residency, target)
    since = residency.eviction_count
    requested_futures = [worker_pool.submit(residency.make_room, "a", 10.0, since=since) for _ in range(8)]
    assert all(requested_future.result(10) for requested_future in requested_futures)
    assert list(residency.evictions) == ["b"]
    assert "a" in memory.inside


def test_who_lacks_memory_after_an_eviction_has_another_one_made(
    residency: Residency, memory: Memory
) -> None:
    memory.room = 3
    for target in "abc":
        use(residency, target)
    assert residency.make_room("a", 10.0, since=residency.eviction_count)
    assert residency.make_room("a", 10.0, since=residency.eviction_count)
    assert list(residency.evictions) == ["b", "c"]


def test_the_end_leaves_nobody_waiting_for_room(memory: Memory, worker_pool: ThreadPoolExecutor) -> None:
    residency = Residency(memory, lambda _measure, _value: None)
    use(residency, "a")
    with residency.use("a", 10.0):
        waiting_futures = [worker_pool.submit(residency.make_room, "b", 10.0, since=0) for _ in range(3)]
        residency.close()
        assert all(waiting_future.result(10) in (True, False) for waiting_future in waiting_futures)
    assert residency.make_room("b", 10.0, since=0) is False
