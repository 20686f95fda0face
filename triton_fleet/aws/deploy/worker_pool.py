"""Threads that deploy endpoints side by side, as far as the quotas of an account let them.

The main thread answers their questions and can be interrupted.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeAlias

from triton_fleet.aws.deploy.stack_repair import Consent
from triton_fleet.core.parallel import SECONDS_DEAF
from triton_fleet.findings import CannotRunError, Failure, FindingsError


@dataclass(frozen=True, kw_only=True)
class Need:
    """One endpoint's instances by quota: beside those that run while it is deployed, and afterwards.

    `after` is negative where instances go, such as those of its former type.
    """

    peak: Mapping[str, int]
    after: Mapping[str, int]


@dataclass(frozen=True, kw_only=True)
class Headroom:
    """Needs by endpoint, free instances by quota, and lines for the user; what is absent is unlimited."""

    needs: Mapping[str, Need] = field(default_factory=dict)
    free: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


class Admission:
    """Hands endpoints out to threads, in order, as far as the headroom goes.

    An endpoint that has to wait lets later ones pass. One that would not even fit alone is handed out when
    no other uses its quota: AWS decides. A failed deploy is rolled back, so it leaves the headroom as it was.
    """

    def __init__(self, endpoints: Sequence[str], headroom: Headroom) -> None:
        self._queue, self._needs = list(endpoints), headroom.needs
        self._free = dict(headroom.free)
        self._use = Counter[str]()
        self._change_signal = threading.Condition()

    def take(self) -> str | None:
        """The next endpoint, when one fits; None if no endpoint is left."""
        with self._change_signal:
            while self._queue:
                name = next((candidate for candidate in self._queue if self._fits(candidate)), None)
                if name is not None:
                    self._queue.remove(name)
                    self._use.update(self._peak(name))
                    return name
                self._change_signal.wait()
            return None

    def end(self, name: str, *, has_succeeded: bool) -> None:
        """Give the headroom of an endpoint back whose deploy has ended."""
        with self._change_signal:
            self._use.subtract(self._peak(name))
            if has_succeeded and name in self._needs:
                for quota, count in self._needs[name].after.items():
                    if quota in self._free:
                        self._free[quota] -= count
            self._change_signal.notify_all()

    def close(self) -> None:
        """Hand out nothing more."""
        with self._change_signal:
            self._queue.clear()
            self._change_signal.notify_all()

    def _peak(self, name: str) -> Mapping[str, int]:
        return self._needs[name].peak if name in self._needs else {}

    def _fits(self, name: str) -> bool:
        return all(
            not count or not self._use[quota] or self._use[quota] + count <= self._free[quota]
            for quota, count in self._peak(name).items()
            if quota in self._free
        )


Message: TypeAlias = tuple[str, Future[bool]] | BaseException | None
"""A question, a defect, or None from a thread that has ended."""


class WorkerPool:
    """Runs the work on each endpoint that is admitted; an endpoint that fails does not stop the others.

    Args:
        threads: How many endpoints at one time.
        consent: Asks the user; it is called in the main thread alone.
        fail_fast: Whether nothing more begins after a failure.
    """

    def __init__(self, threads: int, consent: Consent, *, fail_fast: bool) -> None:
        self._threads, self._consent, self._fail_fast = threads, consent, fail_fast
        self._messages = queue.SimpleQueue[Message]()
        self.failures: list[Failure] = []

    def ask(self, question: str) -> bool:
        """Have the main thread ask a question; other threads work on meanwhile."""
        if threading.current_thread() is threading.main_thread():
            return self._consent(question)
        answer = Future[bool]()
        self._messages.put((question, answer))
        return answer.result()

    def run(self, admission: Admission, work: Callable[[str], None]) -> None:
        """Work on all endpoints, and keep the failures; on an interruption, nothing is waited for.

        What the threads have started has to be ended by the caller then. They do not keep the process alive.
        """
        if self._fail_fast and self.failures:
            return
        thread_count = self._threads
        for _ in range(thread_count):
            threading.Thread(target=self._run_worker, args=(admission, work), daemon=True).start()
        try:
            while thread_count:
                try:
                    message = self._messages.get(timeout=SECONDS_DEAF)
                except queue.Empty:
                    continue
                if message is None:
                    thread_count -= 1
                elif isinstance(message, BaseException):
                    raise message
                else:
                    question, answer = message
                    answer.set_result(self._consent(question))
        finally:
            admission.close()

    def _run_worker(self, admission: Admission, work: Callable[[str], None]) -> None:
        try:
            while (name := admission.take()) is not None:
                admission.end(name, has_succeeded=self._succeeds(name, admission, work))
        except BaseException as error:
            self._messages.put(error)
        self._messages.put(None)

    def _succeeds(self, name: str, admission: Admission, work: Callable[[str], None]) -> bool:
        try:
            work(name)
        except (FindingsError, CannotRunError) as error:
            self.failures.append(error)
            if self._fail_fast:
                admission.close()
            return False
        return True
