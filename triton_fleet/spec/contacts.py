"""Contacts: who owns an endpoint, and who hears of its alarms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.values import Document, Mistake, require_unique

KEY_IN_URL = "a URL contains its key, which does not belong in a file"
NEW_KEY = "if it was committed, replace its key at the service, because the history has it"
_WEBHOOK = re.compile(
    r"https?://([^/]*\.)?"
    r"(hooks?\.[^/]+|webhooks?\.[^/]+|chat\.googleapis\.com|events\.(eu\.)?pagerduty\.com|api\.telegram\.org"
    r"|api\.(eu\.)?opsgenie\.com|alert\.victorops\.com|maker\.ifttt\.com|[^/]*logic\.azure\.com)(:[0-9]+)?(/|$)"
    r"|https?://[^?#]*/(incoming-?)?web-?hooks?(b2)?/",
    re.IGNORECASE,
)
"""Hosts and paths of chats and paging services, by their documentation."""


def holds_key(url: str) -> bool:
    """Whether an address is that of a known webhook; a long random part may be the name of a document."""
    return _WEBHOOK.match(url) is not None


Team = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
"""A team's name, as tags, alarm topics and policies have it."""
REVIEWER = re.compile(r"@[A-Za-z0-9-]+(/[A-Za-z0-9._-]+)?|[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+\.[A-Za-z0-9-]+")
"""Who can be named in a CODEOWNERS file: `@user`, `@organisation/team` or an email address."""
_PAGE = re.compile(r"https://[A-Za-z0-9._/-]+")
_CONTACT = re.compile(f"({REVIEWER.pattern})|({_PAGE.pattern})")


def _contact(value: str) -> str:
    if holds_key(value):
        raise Mistake(
            "a webhook's URL contains its key, which does not belong in a file",
            f"write an email address, `@organisation/team`, or the URL of a page; {NEW_KEY}",
        )
    if not _CONTACT.fullmatch(value):
        raise Mistake(
            "nobody can be reached there",
            "write an email address, `@organisation/team`, or the URL of a page, `https://...`,"
            " without a key in it",
        )
    return value


Contact = Annotated[
    str,
    Field(max_length=256),
    AfterValidator(_contact),
    WithJsonSchema({"type": "string", "maxLength": 256, "pattern": f"^({_CONTACT.pattern})$"}),
]


Reviewer = Annotated[str, StringConstraints(pattern=f"^({REVIEWER.pattern})$", max_length=256)]


class Owner(Document):
    """The team that looks after an endpoint, and how to reach it."""

    team: Team
    """The team's name: lower-case letters, digits and inner hyphens."""
    contact: Contact | None = None
    """An email address, `@organisation/team`, or the URL of a page."""

    @property
    def reviewer(self) -> str | None:
        """The contact, where a CODEOWNERS file can name it."""
        return self.contact if self.contact and REVIEWER.fullmatch(self.contact) else None


class EndpointOwner(Owner):
    """The team that looks after an endpoint, how to reach it, and with whom it shares model repositories."""

    shared_with: Annotated[tuple[Reviewer, ...], Field(strict=False)] = ()
    """Contacts of owners whose specs may name the same model repositories, if they list this contact, too."""


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
"""The hint for a queue or a function that is not of the environment's account and region."""


def _subscriber(value: str) -> str:
    if "://" in value:
        raise Mistake(
            KEY_IN_URL,
            f"subscribe it by hand: {_SUBSCRIBE.format('https')}; {NEW_KEY}",
        )
    if not _EMAIL.fullmatch(value) and not _ARN.fullmatch(value):
        raise ValueError("write an email address, or the ARN of a queue (SQS) or of a function (Lambda)")
    return value


Subscriber = Annotated[str, AfterValidator(_subscriber)]
"""An email address, or the ARN of a queue or a function."""
Subscribers = Annotated[tuple[Subscriber, ...], Field(strict=False), AfterValidator(require_unique)]


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
    match = _ARN.fullmatch(subscriber)
    return (match[1] or match[2]) if match else "email"
