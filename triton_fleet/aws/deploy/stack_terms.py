"""The terms of a stack's lease: its holder, since when, and the commit that is deployed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from triton_fleet.core.digests import commit_words
from triton_fleet.store.builds.lease import Terms

DEPLOYS, DESTROYS = "deploys", "destroys"


@dataclass(frozen=True)
class StackHolder:
    """The caller of a command, its clone and its commit.

    Attributes:
        name: Who calls AWS, for people.
        token: Identifies the clone: it runs one deploy of an environment at a time, so that a lease with its
            own token is of a command that was killed.
        commit: The commit that is deployed; None: unknown.
        uncommitted: Whether files differ from it.
    """

    name: str
    token: str
    commit: str | None = None
    uncommitted: bool = False


@dataclass(frozen=True, kw_only=True)
class StackTerms(Terms):
    """The content of a stack's lease; it stays when the lease has ended.

    Attributes:
        since: When it was taken, by AWS's clock.
        action: `deploys` or `destroys`.
        commit: The commit that is deployed; None: unknown.
        uncommitted: Whether files differed from it.
    """

    since: datetime
    action: str = DEPLOYS
    commit: str | None = None
    uncommitted: bool = False

    @property
    def source(self) -> str:
        """The commit that is deployed, as a clause; "" if that is unknown."""
        if self.commit is None or self.action != DEPLOYS:
            return ""
        return f" from commit {commit_words(self.commit, uncommitted=self.uncommitted)}"

    def __str__(self) -> str:
        """One clause."""
        verb = "deploying" if self.action == DEPLOYS else "deleting"
        return f"{self.holder} has been {verb} it since {self.since:%H:%M:%S} UTC{self.source}"
