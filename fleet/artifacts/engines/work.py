"""One engine, built by this publisher or by another that is at it already."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from fleet.artifacts.engines.clients import EngineClients
from fleet.artifacts.engines.codebuild import (
    STOPPED,
    Build,
    BuildLog,
    LimitError,
    describe_build,
    passes,
    start_build,
)
from fleet.artifacts.engines.failure import failure_findings, told_failure
from fleet.artifacts.engines.inputs import BuildInputs
from fleet.artifacts.engines.lease import Lease, LostError, SeenLease, Terms
from fleet.artifacts.engines.request import StoredPlan, WantedEngine, stored_plan
from fleet.findings import CannotRunError, FindingsError

FAILED_LOOKS = 10
"""So many looks at a build may fail in a row: a network that is gone for some minutes ends no publish."""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long is waited, in seconds; starts that are refused are tried again up to `renew` apart.

    Attributes:
        look: Until a build is looked at again, at first.
        most: Until it is in the end.
        renew: Until a lease is renewed.
        lease: How long a lease holds.
        limit: How long it is tried to start a build where the account runs as many as it may, and none of
            them is this publish's.
    """

    look: float = 2
    most: float = 15
    renew: float = 60
    lease: int = 300
    limit: float = 1800

    def waits(self, most: float) -> Iterator[float]:
        """Longer and longer pauses, from `look` up to `most` seconds."""
        wait = self.look
        while True:
            yield wait
            wait = min(1.5 * wait, most)


@dataclass(frozen=True, kw_only=True)
class BuildContext:
    """What the builds of one publish have in common.

    `seconds` is how long an engine may take; `under_way` are the ids of the builds that it waits for.
    """

    clients: EngineClients
    inputs: BuildInputs
    bucket: str
    holder: str
    seconds: int
    pace: Pace
    cancelled: Event
    under_way: set[str] = field(default_factory=set)

    def pause(self, seconds: float) -> None:
        """Wait.

        Raises:
            CancelledError: the publish was interrupted.
        """
        if self.cancelled.wait(seconds):
            raise CancelledError


class EngineWork:
    """One engine of one publish; `has_built` says whether it was built for it."""

    def __init__(self, shared: BuildContext, engine: WantedEngine, tell: Callable[[str], None]) -> None:
        self._shared, self._engine, self._tell = shared, engine, tell
        self._terms = Terms(holder=shared.holder, token=uuid4().hex, seconds=shared.pace.lease)
        self._lease = Lease(shared.clients.s3, shared.bucket, engine.key, self._terms)
        self._log = BuildLog(shared.clients.logs)
        self.has_built = False

    def plan(self) -> StoredPlan:
        """The engine's plan, once it is there.

        Raises:
            FindingsError: it cannot be built.
            CannotRunError, ClientError, BotoCoreError: AWS refuses or does not answer; a build that is under
                way goes on, and the next publish follows it.
            CancelledError: the publish was interrupted; a build that it started is stopped.
        """
        self._shared.inputs.put_onnx(self._engine)
        while True:
            plan = self._find_stored() or self._try_build()
            if plan is not None:
                return plan

    def _try_build(self) -> StoredPlan | None:
        """The plan; None if one has to look again who builds it."""
        if self._lease.take():
            return self._hold("")
        seen = self._lease.seen()
        if seen is None:
            return None
        build = self._look(seen.terms.build) if seen.terms.build else None
        if build is not None and not build.is_over and not seen.is_expired:
            return self._follow(build.id, seen)
        if build is not None and build.is_over and (plan := self._find_stored()):
            return plan
        if seen.is_expired or build is not None:
            # Whoever had it is gone, or their build is over and they are not; what still runs is taken along.
            running = build.id if build is not None and not build.is_over else ""
            return self._hold(running) if self._lease.take_over(seen, running) else None
        self._tell(f"{seen.terms.holder} is about to build it")
        self._shared.pause(self._shared.pace.look)
        return None

    def _follow(self, id: str, seen: SeenLease) -> StoredPlan | None:
        self._tell(f"{seen.terms.holder} builds it")
        build = self._await_end(id, renews=False)
        if build.status == STOPPED:
            self._shared.pause(self._shared.pace.look)
            return self._find_stored()
        return self._result(build)

    def _hold(self, id: str) -> StoredPlan | None:
        """Build it under the lease, or see the build to its end that is under way."""
        with self._lease_context() as held:
            if not id and (plan := self._find_stored()):
                return plan
            try:
                held.append(id or self._start_build())
                build = self._await_end(held[0], renews=True)
            except LostError:
                return None
            held.clear()
            plan = self._result(build)
            self.has_built = not id
            return plan

    @contextmanager
    def _lease_context(self) -> Iterator[list[str]]:
        """Give the lease up at the end; within, the list has the id of the build that is under way."""
        held, gives_up = list[str](), True
        try:
            yield held
        except CancelledError:
            gives_up = all(self._stop(id) for id in held)
            raise
        except (ClientError, BotoCoreError):
            gives_up = not held
            raise
        finally:
            if gives_up:  # else the lease says what is under way, until it expires
                with suppress(ClientError, BotoCoreError):
                    self._lease.release()

    def _start_build(self) -> str:
        """The id of a new build, which the lease says then.

        Raises:
            LostError: another publisher has the lease by now.
        """
        shared, use = self._shared, self._engine.first
        shared.inputs.put_request(use, shared.seconds)
        script, until, token = shared.inputs.script, time.monotonic() + shared.pace.limit, uuid4().hex
        waits = shared.pace.waits(shared.pace.renew)
        while True:
            is_own_limit = bool(shared.under_way)
            try:
                id = start_build(shared.clients.codebuild, use, script, token)
            except LimitError as error:
                if is_own_limit:
                    until = time.monotonic() + shared.pace.limit
                elif time.monotonic() >= until:
                    problem = f"CodeBuild starts no build of {use.name}: {error}"
                    remedy = "ask for a higher quota of concurrent builds, or run it again later"
                    raise CannotRunError(problem, remedy) from error
                self._tell(f"waits for other builds: {error}")
                shared.pause(next(waits))
                self._lease.renew("")
            else:
                break
        try:
            self._lease.renew(id)
        except (LostError, ClientError, BotoCoreError):
            self._stop(id)  # whoever has the lease next does not know of it
            raise
        return id

    def _stop(self, id: str) -> bool:
        """Stop a build; False where CodeBuild does not do it."""
        try:
            self._shared.clients.codebuild.stop_build(id=id)
        except (ClientError, BotoCoreError):
            return False
        return True

    def _await_end(self, id: str, *, renews: bool) -> Build:
        """The build once it is over.

        Raises:
            LostError: another publisher has the lease by now.
        """
        self._shared.under_way.add(id)
        try:
            return self._waited_for(id, renews=renews)
        finally:
            self._shared.under_way.discard(id)

    def _waited_for(self, id: str, *, renews: bool) -> Build:
        pace, renewed = self._shared.pace, time.monotonic()
        waits = pace.waits(pace.most)
        while True:
            build = self._look(id)
            if build is None:
                raise CannotRunError(f"CodeBuild knows no build {id} any more", "run the command again")
            with suppress(ClientError, BotoCoreError):  # without its log it is built all the same
                self._tell(self._log.read(build) or build.phase.lower())
            if build.is_over:
                return build
            if renews and time.monotonic() - renewed >= pace.renew:
                self._lease.renew(id)
                renewed = time.monotonic()
            self._shared.pause(next(waits))

    def _look(self, id: str) -> Build | None:
        failed = 0
        while True:
            try:
                return describe_build(self._shared.clients.codebuild, id)
            except (ClientError, BotoCoreError) as error:
                failed += 1
                if not passes(error) or failed == FAILED_LOOKS:
                    raise
            self._shared.pause(self._shared.pace.most)

    def _result(self, build: Build) -> StoredPlan:
        if plan := self._find_stored():
            return plan
        failure = told_failure(self._shared.clients.s3, self._shared.bucket, self._engine.key, build.id)
        raise FindingsError(failure_findings(self._engine, build, failure, self._log.last))

    def _find_stored(self) -> StoredPlan | None:
        return stored_plan(self._shared.clients.s3, self._shared.bucket, self._engine.key)
