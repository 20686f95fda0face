"""Threads that deploy endpoints, while the main thread answers their questions and can be interrupted."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeAlias

from triton_fleet.aws.deploy.admission import Admission
from triton_fleet.aws.deploy.stack_repair import Consent
from triton_fleet.core.parallel import SECONDS_DEAF
from triton_fleet.findings import CannotRunError, Failure, FindingsError

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
        left = self._threads
        for _ in range(left):
            threading.Thread(target=self._work_on_all, args=(admission, work), daemon=True).start()
        try:
            while left:
                try:
                    message = self._messages.get(timeout=SECONDS_DEAF)
                except queue.Empty:
                    continue
                if message is None:
                    left -= 1
                elif isinstance(message, BaseException):
                    raise message
                else:
                    question, answer = message
                    answer.set_result(self._consent(question))
        finally:
            admission.close()

    def _work_on_all(self, admission: Admission, work: Callable[[str], None]) -> None:
        try:
            while (name := admission.take()) is not None:
                admission.end(name, succeeded=self._succeeds(name, admission, work))
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
