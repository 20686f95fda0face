"""Who looks after an endpoint."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, WithJsonSchema

from triton_fleet.spec.mistake import Mistake
from triton_fleet.spec.values import Document
from triton_fleet.spec.web_keys import NEW_KEY, holds_key

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
