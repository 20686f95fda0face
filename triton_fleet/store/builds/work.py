"""Builds one thing, or waits for another publisher that is building it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from math import ceil
from threading import Event
from typing import ClassVar, Generic, Protocol, TypeVar
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from triton_fleet.builds.start import BuildStart
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.store.builds.codebuild import (
    STOPPED,
    Build,
    BuildClients,
    BuildLog,
    LimitError,
    RefusalError,
    describe_build,
    passes,
    start_build,
)
from triton_fleet.store.builds.lease import Lease, LostError, SeenLease, Terms

Result = TypeVar("Result", covariant=True)
FAILED_LOOKS = 10
"""How many requests for a build may fail in a row: a publish survives some minutes without network."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """Times in seconds; refused starts are retried up to `renew` apart.

    Attributes:
        look: The first pause between requests for a build.
        longest_pause: The longest pause between them.
        renew: The time after which a lease is renewed.
        lease: How long a lease is valid.
        limit: How long to retry a start if the account's quota of builds is used up and none of them is this
            publish's.
    """

    look: float = 2
    longest_pause: float = 15
    renew: float = 60
    lease: int = 300
    limit: float = 1800

    def waits(self, longest: float) -> Iterator[float]:
        """Growing pauses, from `look` up to `longest` seconds."""
        wait = self.look
        while True:
            yield wait
            wait = min(1.5 * wait, longest)


@dataclass(frozen=True, kw_only=True)
class BuildContext:
    """State that the builds of one publish share; `under_way` are the ids of those that it waits for."""

    clients: BuildClients
    bucket: str
    holder: str
    pace: Pace
    cancellation: Event
    under_way: set[str] = field(default_factory=set)

    def pause(self, seconds: float) -> None:
        """Wait.

        Raises:
            CancelledError: the publish was interrupted.
        """
        if self.cancellation.wait(seconds):
            raise CancelledError


class BuildTask(Protocol[Result]):
    """An engine or an image to build. Its methods raise what AWS raises besides."""

    kind: ClassVar[str]
    """What is built: `engine`, `image`."""

    @property
    def name(self) -> str:
        """For messages."""

    @property
    def lease(self) -> str:
        """The key of the lease in the bucket."""

    def prepare(self) -> None:
        """Put there what the build reads and what does not depend on the attempt.

        Raises:
            FindingsError: there is something wrong with that.
        """

    def find(self) -> Result | None:
        """The complete result, if it exists."""

    def start(self) -> BuildStart:
        """Write the request of an attempt; return what it is started with."""

    def refusal(self, error: RefusalError) -> list[Finding]:
        """Why CodeBuild does not start it."""

    def failure(self, build: Build, log: Sequence[str]) -> list[Finding]:
        """Why a build has ended without a result."""


class BuildWork(Generic[Result]):
    """One task of one publish; `has_built` is whether this publish built it."""

    def __init__(self, context: BuildContext, task: BuildTask[Result], tell: Callable[[str], None]) -> None:
        self._context, self._task, self._tell = context, task, tell
        self._terms = Terms(holder=context.holder, token=uuid4().hex, seconds=context.pace.lease)
        self._lease = Lease(context.clients.s3, context.bucket, task.lease, self._terms)
        self._log = BuildLog(context.clients.logs)
        self.has_built = False

    def result(self) -> Result:
        """Wait for the result.

        Raises:
            FindingsError: it cannot be built.
            CannotRunError, ClientError, BotoCoreError: AWS refuses or does not answer; a running build
                continues, and the next publish follows it.
            CancelledError: the publish was interrupted; a build that it started is stopped.
        """
        self._task.prepare()
        while True:
            build_result = self._task.find() or self._try_build()
            if build_result is not None:
                return build_result

    def _try_build(self) -> Result | None:
        """The result; None to check again who builds it."""
        if self._lease.take():
            return self._hold("")
        lease = self._lease.current()
        if lease is None:
            return None
        build = self._look(lease.terms.build) if lease.terms.build else None
        if build is not None and not build.is_over and not lease.is_expired:
            return self._follow(build.id, lease)
        if build is not None and build.is_over and (result := self._task.find()):
            return result
        if lease.is_expired or build is not None:
            # The holder is gone, or its build has ended; a build that still runs is taken over.
            build_id = build.id if build is not None and not build.is_over else ""
            return self._hold(build_id) if self._lease.take_over(lease, build_id) else None
        # Whether the holder lives, this machine cannot know: it may be another one.
        wait = f"if that was killed, this one starts in {ceil(lease.lifetime)} s"
        self._tell(f"{lease.terms.holder} is starting the build; {wait}")
        self._context.pause(self._context.pace.look)
        return None

    def _follow(self, id: str, lease: SeenLease[Terms]) -> Result | None:
        self._tell(f"{lease.terms.holder} is building it")
        build = self._await_end(id, renews=False)
        if build.status == STOPPED:
            self._context.pause(self._context.pace.look)
            return self._task.find()
        return self._finish(build)

    def _hold(self, id: str) -> Result | None:
        """Build it under the lease, or wait for the running build."""
        with self._lease_context() as build_ids:
            if not id and (result := self._task.find()):
                return result
            try:
                build_ids.append(id or self._start_build())
                build = self._await_end(build_ids[0], renews=True)
            except LostError:
                return None
            build_ids.clear()
            result = self._finish(build)
            self.has_built = not id
            return result

    @contextmanager
    def _lease_context(self) -> Iterator[list[str]]:
        """Release the lease at the end; the list has the id of the running build."""
        build_ids, gives_up = list[str](), True
        try:
            yield build_ids
        except CancelledError:
            gives_up = all(self._stop(id) for id in build_ids)
            raise
        except (ClientError, BotoCoreError):
            gives_up = not build_ids
            raise
        finally:
            if gives_up:  # else the lease keeps the id of the running build until it expires
                with suppress(ClientError, BotoCoreError):
                    self._lease.release()

    def _start_build(self) -> str:
        """Start a build, write its id to the lease, and return it.

        Raises:
            LostError: another publisher has the lease by now.
        """
        context, start = self._context, self._task.start()
        until, token = time.monotonic() + context.pace.limit, uuid4().hex
        waits = context.pace.waits(context.pace.renew)
        while True:
            is_own_limit = bool(context.under_way)
            try:
                id = start_build(context.clients.codebuild, start, token)
            except RefusalError as error:
                raise FindingsError(self._task.refusal(error)) from error
            except LimitError as error:
                if is_own_limit:
                    until = time.monotonic() + context.pace.limit
                elif time.monotonic() >= until:
                    problem = f"CodeBuild does not start the build of {self._task.name}: {error}"
                    remedy = "request a higher quota of concurrent builds, or run the command again later"
                    raise CannotRunError(problem, remedy) from error
                self._tell(f"waits for other builds: {error}")
                context.pause(next(waits))
                self._lease.renew("")
            else:
                break
        try:
            self._lease.renew(id)
        except (LostError, ClientError, BotoCoreError):
            self._stop(id)  # the next holder of the lease would not know of it
            raise
        return id

    def _stop(self, id: str) -> bool:
        """Stop a build; return False if CodeBuild does not."""
        try:
            self._context.clients.codebuild.stop_build(id=id)
        except (ClientError, BotoCoreError):
            return False
        return True

    def _await_end(self, id: str, *, renews: bool) -> Build:
        """Wait for the end of the build.

        Raises:
            LostError: another publisher has the lease by now.
        """
        self._context.under_way.add(id)
        try:
            return self._waited_for(id, renews=renews)
        finally:
            self._context.under_way.discard(id)

    def _waited_for(self, id: str, *, renews: bool) -> Build:
        pace, renewal_time = self._context.pace, time.monotonic()
        waits = pace.waits(pace.longest_pause)
        while True:
            build = self._look(id)
            if build is None:
                raise CannotRunError(f"CodeBuild no longer has build {id}", "run the command again")
            with suppress(ClientError, BotoCoreError):  # the build does not need its log
                self._tell(self._log.read(build) or build.phase.lower())
            if build.is_over:
                return build
            if renews and time.monotonic() - renewal_time >= pace.renew:
                self._lease.renew(id)
                renewal_time = time.monotonic()
            self._context.pause(next(waits))

    def _look(self, id: str) -> Build | None:
        failures = 0
        while True:
            try:
                return describe_build(self._context.clients.codebuild, id)
            except (ClientError, BotoCoreError) as error:
                failures += 1
                if not passes(error) or failures == FAILED_LOOKS:
                    raise
            self._context.pause(self._context.pace.longest_pause)

    def _finish(self, build: Build) -> Result:
        if result := self._task.find():
            return result
        raise FindingsError(self._task.failure(build, self._log.last))
