"""A repository on GitHub, as the tokens of its jobs name it: with ids of owner and repository, or without.

Source: docs.github.com/en/actions/reference/security/oidc#immutable-subject-claims and
github.blog/changelog/2026-04-23-immutable-subject-claims-for-github-actions-oidc-tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from triton_fleet.spec.values import Mistake

IDS_SINCE = "2026-07-15"
"""Repositories that are created, renamed or transferred after this day have tokens with ids."""
_OWNER, _NAME, _ID = r"[A-Za-z0-9][A-Za-z0-9_-]*", r"\.*[A-Za-z0-9_-][A-Za-z0-9._-]*", r"[1-9][0-9]{0,18}"
PATTERN = f"{_OWNER}(/{_NAME}|@{_ID}/{_NAME}@{_ID})"
"""Both ids or none: no token has one of them."""
_PARTS = re.compile(f"({_OWNER})(?:@({_ID}))?/({_NAME})(?:@({_ID}))?")
EXAMPLE = "example@1234567/fleet@890123456"


@dataclass(frozen=True, kw_only=True)
class GitHubRepository:
    """A repository and its owner, by name; by id, too, or by neither's."""

    owner: str
    name: str
    owner_id: int | None = None
    id: int | None = None

    @classmethod
    def parse(cls, text: str) -> GitHubRepository:
        """`OWNER@ID/NAME@ID` or `OWNER/NAME`.

        Raises:
            Mistake: it is neither.
        """
        parts = _PARTS.fullmatch(text)
        if parts is None:
            raise Mistake("it is not one repository of GitHub", f"write one repository, `{EXAMPLE}`")
        owner, owner_id, name, id = parts.groups()
        if (owner_id is None) != (id is None):
            hint = f"write both ids, `{EXAMPLE}`; `{ids_command(f'{owner}/{name}')}` prints them"
            raise Mistake("no token has the id of the owner alone, or of the repository alone", hint)
        ids = {"owner_id": int(owner_id), "id": int(id)} if id else {}
        return cls(owner=owner, name=name, **ids)

    @property
    def names(self) -> str:
        """`OWNER/NAME`, whatever is known of ids."""
        return f"{self.owner}/{self.name}"

    @property
    def has_ids(self) -> bool:
        """Whether its subjects are those with ids."""
        return self.id is not None

    def __str__(self) -> str:
        return f"{self.owner}@{self.owner_id}/{self.name}@{self.id}" if self.has_ids else self.names


def ids_command(names: str) -> str:
    """The command that prints `OWNER@ID/NAME@ID`. Source: GitHub's REST API, Get a repository."""
    return rf"""gh api repos/{names} --jq '"\(.owner.login)@\(.owner.id)/\(.name)@\(.id)"'"""


def prefix_command(names: str) -> str:
    """The command that prints how the subjects of a repository's tokens begin.

    Source: GitHub's REST API, Get the customization template for an OIDC subject claim for a repository.
    """
    return f"gh api repos/{names}/actions/oidc/customization/sub --jq .sub_claim_prefix"
