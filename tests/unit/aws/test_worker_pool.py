"""Endpoints are worked on side by side, and the main thread stays in charge."""

from __future__ import annotations

import threading

import pytest

from triton_fleet.aws.deploy.worker_pool import Admission, Headroom, WorkerPool
from triton_fleet.findings import CannotRunError, Finding, FindingsError

NAMES = ["a", "b", "c", "d"]


def refuse(_question: str) -> bool:
    raise AssertionError


def test_as_many_run_at_one_time_as_there_are_threads() -> None:
    barrier = threading.Barrier(2)
    result = list[str]()

    def work(name: str) -> None:
        barrier.wait(30)
        result.append(name)

    WorkerPool(2, refuse, fail_fast=False).run(Admission(NAMES, Headroom()), work)
    assert sorted(result) == NAMES


def fail_work(name: str) -> None:
    done_work.append(name)
    if name == "a":
        raise FindingsError([Finding(code="FL601", message="a failed")])
    if name == "b":
        raise CannotRunError("b could not run")


done_work: list[str] = []


@pytest.mark.parametrize(("fail_fast", "worked_lines"), [(False, NAMES), (True, ["a"])])
def test_a_failure_stops_nothing_unless_it_shall(fail_fast: bool, worked_lines: list[str]) -> None:
    done_work.clear()
    pool = WorkerPool(1, refuse, fail_fast=fail_fast)
    pool.run(Admission(NAMES, Headroom()), fail_work)
    assert done_work == worked_lines
    assert len(pool.failures) == (1 if fail_fast else 2)
    pool.run(Admission(["e"], Headroom()), fail_work)
    assert done_work == [*worked_lines, *([] if fail_fast else ["e"])]


def test_a_question_of_a_thread_is_asked_in_the_main_thread() -> None:
    request = list[tuple[str, bool]]()

    def consent(question: str) -> bool:
        request.append((question, threading.current_thread() is threading.main_thread()))
        return question == "a?"

    answers = dict[str, bool]()
    pool = WorkerPool(2, consent, fail_fast=False)
    pool.run(Admission(["a", "b"], Headroom()), lambda name: answers.update({name: pool.ask(f"{name}?")}))
    assert (sorted(request), answers) == ([("a?", True), ("b?", True)], {"a": True, "b": False})
    assert pool.ask("a?")


def test_a_defect_ends_the_run_and_nothing_more_begins() -> None:
    started_names = list[str]()

    def work(name: str) -> None:
        started_names.append(name)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        WorkerPool(1, refuse, fail_fast=False).run(Admission(NAMES, Headroom()), work)
    assert started_names == ["a"]


def test_an_interruption_waits_for_no_thread() -> None:
    may_go = threading.Event()

    def interrupt(_question: str) -> bool:
        raise KeyboardInterrupt

    pool = WorkerPool(2, interrupt, fail_fast=False)

    def work(name: str) -> None:
        if name == "a":
            pool.ask("go on?")
        may_go.wait(30)

    with pytest.raises(KeyboardInterrupt):
        pool.run(Admission(NAMES, Headroom()), work)
    assert not may_go.is_set()
    may_go.set()
