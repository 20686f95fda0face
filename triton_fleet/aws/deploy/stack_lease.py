"""The terms of a stack's lease: its holder, since when, and the commit that is deployed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from botocore.exceptions import BotoCoreError, ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.stack_repair import stack_after_operation
from triton_fleet.awsapi.errors import DENIAL_CODES, answered_at
from triton_fleet.awsapi.stack import pauses
from triton_fleet.core.formats import commit_words, short_commit
from triton_fleet.endpoint.bucket_keys import RELEASES
from triton_fleet.findings import CannotRunError
from triton_fleet.store.builds.lease import Lease, LostError, Terms

DEPLOYS, DESTROYS = "deploys", "destroys"


VALID_SECONDS, RENEWAL_SECONDS = 120, 30


@dataclass(frozen=True, kw_only=True)
class StackTerms(Terms):
    """The content of a stack's lease; it stays when the lease has ended.

    `token` identifies a clone: it runs one deploy of an environment at a time, so that a lease with its own
    token is of a command that was killed.

    Attributes:
        since: When it was taken, by AWS's clock.
        action: `deploys` or `destroys`.
        commit: The commit that is deployed; None: unknown.
        has_changes: Whether files differed from it.
    """

    seconds: int = VALID_SECONDS
    since: datetime = datetime.min
    action: str = DEPLOYS
    commit: str | None = None
    has_changes: bool = False

    @property
    def source(self) -> str:
        """The commit that is deployed, as a clause; "" if that is unknown."""
        if self.commit is None or self.action != DEPLOYS:
            return ""
        return f" from commit {commit_words(self.commit, uncommitted=self.has_changes)}"

    def __str__(self) -> str:
        """One clause."""
        verb = "deploying" if self.action == DEPLOYS else "deleting"
        return f"{self.holder} has been {verb} it since {self.since:%H:%M:%S} UTC{self.source}"


LEASES = f"{RELEASES}.leases/"
"""Below a prefix that every role for deploys may read and write; no endpoint's name begins with a dot."""


@dataclass
class _ActiveLease:
    lease: Lease[StackTerms]
    end_event: threading.Event = field(default_factory=threading.Event)
    is_lost: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)


class StackLeases:
    """The leases of one command; threads may hold some each.

    They are in the environment's bucket, and AWS's clock counts. One that its holder has not renewed for
    `VALID_SECONDS` is taken over. Without a bucket or the permission nothing is leased: then CloudFormation
    alone refuses a second operation on a stack.

    Args:
        access: Access to the environment.
        terms: Who runs the command, from which commit.
        notice: Shows a line.
        contains: Whether what is deployed contains a commit.
    """

    def __init__(
        self,
        access: Access,
        terms: StackTerms,
        notice: Callable[[str], None],
        contains: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._access, self._own, self._notice, self._contains = access, terms, notice, contains
        self._bucket = access.deployment.bucket
        self._active: dict[str, _ActiveLease] = {}
        self._is_usable = self._has_bucket = False
        self._began, self._start = datetime.min, 0.0

    def begin(self) -> None:
        """Note the time: what others deploy from now on, the user of this command has not seen.

        Raises:
            ClientError: S3 refuses for another reason than a missing bucket or permission.
        """
        self._is_usable = True
        self._began, self._start = self._bucket_time(), time.monotonic()

    @property
    def current_time(self) -> datetime:
        """The time at AWS."""
        return self._began + timedelta(seconds=int(time.monotonic() - self._start))

    @contextmanager
    def lease(self, stack: str, action: str = DEPLOYS) -> Iterator[StackTerms | None]:
        """Hold the lease of a stack, once no other command does.

        Yields the terms of the last other command that active it since this one began; None if there is none.

        Raises:
            CannotRunError: the object is not a lease.
            ClientError: S3 refuses.
        """
        try:
            active, other_terms = self._take(stack, action)
        except ClientError as error:
            if error.response["Error"]["Code"] not in DENIAL_CODES:
                raise
            self._stop(f"no permission to read and write s3://{self._bucket}/{LEASES}")
            active = other_terms = None
        if active is None:
            yield None
            return
        self._active[stack] = active
        threading.Thread(target=self._keep, args=(stack, active), daemon=True).start()
        try:
            yield other_terms
        finally:
            self._end(stack)

    @contextmanager
    def turn(self, stack: str, is_unchanged: Callable[[], bool]) -> Iterator[bool]:
        """Hold the lease of a stack that would change; whether it still would when other deploys have ended.

        Raises:
            CannotRunError: another command has changed it since this one began, and this one lacks that.
            ClientError: access is denied.
        """
        with self.lease(stack) as other_terms:
            is_needed = True
            if other_terms is not None:
                stack_after_operation(self._access.client("cloudformation"), stack, self._notice)
                is_needed = not is_unchanged()
                if is_needed:
                    self.require_newer(stack, other_terms)
                else:
                    self._notice(f"{stack}: {other_terms.holder} has deployed the same")
            yield is_needed

    def require(self, stack: str) -> None:
        """Refuse to change a stack whose lease another command has taken over meanwhile.

        Raises:
            CannotRunError: it has.
        """
        active = self._active.get(stack)
        if active is not None and active.is_lost:
            problem = (
                f"this command no longer has the lease of {stack}: it did not renew it for {VALID_SECONDS}"
                " seconds, and another one took it over"
            )
            raise CannotRunError(problem, "see what runs, then deploy again")

    def require_newer(self, stack: str, other_terms: StackTerms) -> None:
        """Report that this deploy replaces what another one deployed since it began, or refuse to.

        Raises:
            CannotRunError: what is deployed here does not contain what the other one deployed.
        """
        is_known = (
            other_terms.action == DEPLOYS and other_terms.commit is not None and not other_terms.has_changes
        )
        if is_known and self._contains(other_terms.commit or ""):
            self._notice(
                f"{stack}: this deploy replaces what {other_terms.holder} deployed{other_terms.source}"
            )
            return
        verb, own, lacks = "deployed", self._own.commit, ""
        if other_terms.action == DESTROYS:
            verb = "destroyed"
        elif own is not None:
            lacks = f", and commit {short_commit(own)} does not contain that"
        raise CannotRunError(
            f"{other_terms.holder} has {verb} {stack}{other_terms.source} since this command began{lacks}:"
            " this command did not change it",
            "see what runs, and update your clone; to continue all the same, run the command again",
        )

    def renew(self, stack: str) -> None:
        """Renew a lease; what S3 does not answer is tried again later."""
        active = self._active.get(stack)
        if active is None:
            return
        with active.lock, suppress(ClientError, BotoCoreError):
            try:
                if not active.end_event.is_set():
                    active.lease.renew()
            except LostError:
                active.is_lost = True

    def end(self) -> None:
        """End all leases, such as those of threads that an interruption leaves behind."""
        self._is_usable = False
        for stack in list(self._active):
            self._end(stack)

    def _take(self, stack: str, action: str) -> tuple[_ActiveLease | None, StackTerms | None]:
        """The lease, and the terms of the last other command that had it since this one began."""
        pause, seconds, other_terms = threading.Event(), pauses(), None
        is_noticed = False
        while self._is_usable and (self._has_bucket or self._bucket_exists()):
            terms = replace(self._own, since=self.current_time, action=action)
            lease = Lease(self._access.client("s3"), self._bucket, f"{LEASES}{stack}.json", terms)
            current_lease = lease.current()
            is_own = current_lease is not None and current_lease.terms.token == self._own.token
            if current_lease is None:
                is_taken = lease.take()
            elif is_own or current_lease.is_expired:
                is_taken = lease.take_over(current_lease)
            else:
                is_taken, other_terms = False, current_lease.terms
                if not is_noticed:
                    self._notice(f"{stack}: {current_lease.terms}; waiting for it to end")
                    is_noticed = True
            if is_taken:
                # A holder that was killed before has done nothing since; a deletion waits for CloudFormation.
                is_waited_for = other_terms is not None and action == DEPLOYS
                is_other = (
                    current_lease is not None
                    and not is_own
                    and (is_waited_for or current_lease.write_time >= self._began)
                )
                other_terms = current_lease.terms if current_lease is not None and is_other else None
                if current_lease is not None and not is_own and current_lease.terms.seconds:
                    holder = current_lease.terms.holder
                    self._notice(f"{stack}: {holder} has not renewed its lease: this command takes over")
                return _ActiveLease(lease), other_terms
            pause.wait(next(seconds))
        return None, None

    def _keep(self, stack: str, active: _ActiveLease) -> None:
        while not active.end_event.wait(RENEWAL_SECONDS):
            self.renew(stack)

    def _end(self, stack: str) -> None:
        active = self._active.pop(stack, None)
        if active is None:
            return
        active.end_event.set()
        with active.lock, suppress(LostError, ClientError, BotoCoreError):
            active.lease.expire()

    def _stop(self, reason: str) -> None:
        if self._is_usable:
            self._notice(f"{reason}: concurrent deploys are noticed only when CloudFormation refuses one")
        self._is_usable = False

    def _bucket_exists(self) -> bool:
        self._bucket_time()
        return self._has_bucket

    def _bucket_time(self) -> datetime:
        try:
            answer = dict(self._access.client("s3").head_bucket(Bucket=self._bucket))
            self._has_bucket = True
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status not in (403, 404):
                raise
            answer, self._has_bucket = dict(error.response), status == 403
        return answered_at(answer)
