"""Who has the lease of a stack, since when, and what they deploy."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fleet.artifacts.builds.lease import Terms

DEPLOYS, DESTROYS = "deploys", "destroys"
SHORT = 12
"""Characters of a commit's id for people."""


@dataclass(frozen=True)
class StackHolder:
    """Who runs a command, and from what.

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
        """What is deployed, as a clause; "" if that is unknown."""
        if self.commit is None or self.action != DEPLOYS:
            return ""
        return f" from commit {self.commit[:SHORT]}{' with uncommitted changes' if self.uncommitted else ''}"

    def __str__(self) -> str:
        """For people."""
        return f"{self.holder} {self.action} it since {self.since:%H:%M:%S} UTC{self.source}"
