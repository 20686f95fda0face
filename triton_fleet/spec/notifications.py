"""Who is notified of alarms: email addresses, queues and functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.mistake import Mistake
from triton_fleet.spec.owner import Team
from triton_fleet.spec.values import Document
from triton_fleet.spec.web_keys import KEY_IN_URL, NEW_KEY

_EMAIL = re.compile(r"[^\s@:/]+@[^\s@:/]+\.[^\s@:/.]+")
_ARN = re.compile(
    r"arn:aws[a-z-]*:(?:(sqs):[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]+"
    r"|(lambda):[a-z0-9-]+:[0-9]{12}:function:[A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)?)"
)
_SUBSCRIBE = "`aws sns subscribe --topic-arn ... --protocol {} --notification-endpoint ...`"
BY_HAND = (
    f"subscribe it by hand, and let its owner confirm: {_SUBSCRIBE.format('sqs')} (or lambda);"
    " no deploy touches that"
)
"""What can be done about a queue or a function that is not of the environment's account and region."""


def _subscriber(value: str) -> str:
    if "://" in value:
        raise Mistake(
            KEY_IN_URL,
            f"subscribe it by hand: {_SUBSCRIBE.format('https')}; {NEW_KEY}",
        )
    if not _EMAIL.fullmatch(value) and not _ARN.fullmatch(value):
        raise ValueError("write an email address, or the ARN of a queue (SQS) or of a function (Lambda)")
    return value


def _require_unique(values: tuple[str, ...]) -> tuple[str, ...]:
    if twice := [value for value, count in Counter(values).items() if count > 1]:
        raise ValueError(f"{twice[0]!r} is listed twice")
    return values


Subscriber = Annotated[str, AfterValidator(_subscriber)]
"""An email address, or the ARN of a queue or a function."""
Subscribers = Annotated[tuple[Subscriber, ...], Field(strict=False), AfterValidator(_require_unique)]


class OwnerNotifications(Document):
    """Email addresses, and ARNs of queues and functions, that are subscribed to a severity's topic."""

    warning: Subscribers = ()
    """Who is notified of warnings, in working hours."""
    critical: Subscribers = ()
    """Who is notified of critical alarms."""

    @property
    def by_severity(self) -> Mapping[AlarmSeverity, tuple[str, ...]]:
        """The subscribers of each severity."""
        return {"warning": self.warning, "critical": self.critical}


class Notifications(OwnerNotifications):
    """Who is subscribed to the environment's topics, and to those of owners."""

    owners: dict[Team, OwnerNotifications] = Field(default_factory=dict)
    """By team: who is notified of the alarms of endpoints with that `owner`, in place of those above."""


def protocol(subscriber: str) -> str:
    """How SNS reaches a subscriber: `email`, `sqs` or `lambda`."""
    found = _ARN.fullmatch(subscriber)
    return (found[1] or found[2]) if found else "email"
