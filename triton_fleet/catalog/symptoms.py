"""Symptoms of an endpoint that does not answer, each with where it shows and what it is caused by."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file

FAILURE_RANK, AFTERMATH_RANK = 3, 4
"""The ranks of a symptom that something failed, and of one that only follows from that."""
MAX_CHARACTERS = 300
"""How much of what a pattern's group matches is put into a sentence."""


class EvidenceOrigin(StrEnum):
    """Where something is read: CloudFormation's events, SageMaker's FailureReason, a log.

    CALL is a line of a log about one call, which does not concern the endpoint as long as others succeed.
    """

    EVENT = "event"
    REASON = "failure reason"
    LOG = "log"
    CALL = "call"


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """One symptom.

    Attributes:
        name: Its key in the data.
        origins: The places that are searched for it.
        pattern: Of a text in which all white space is one blank.
        codes: The code that describes it best, and others that may have reported it before.
        cause: The cause in a sentence with the pattern's groups; empty where the first code is a rule.
        remedy: What to do about it.
        key: The path of the affected key of the spec; empty if there is none.
        rank: From 1, which names the cause, to 4, what only follows from it.
        source: Where it was reported.
        date: When.
        example: A text in which it is found.
    """

    name: str
    origins: frozenset[EvidenceOrigin]
    pattern: re.Pattern[str]
    codes: tuple[str, ...]
    cause: str
    remedy: str
    key: tuple[str, ...]
    rank: int
    source: str
    date: str
    example: str


@cache
def symptoms() -> tuple[Symptom, ...]:
    """All of them, in the order of the data file."""
    return tuple(_symptom(name, facts) for name, facts in data_file("symptoms.yaml")["symptoms"].items())


def symptom(name: str) -> Symptom:
    """The symptom of a name.

    Raises:
        StopIteration: the data has no such symptom.
    """
    return next(symptom for symptom in symptoms() if symptom.name == name)


def known_remedy(text: str, origin: EvidenceOrigin) -> str:
    """The remedy for the symptom in a text; empty if the text has no symptom."""
    match = known_symptom(text, origin)
    return "" if match is None else fill_template(match[0].remedy, match[1])


def known_symptom(text: str, origin: EvidenceOrigin) -> tuple[Symptom, re.Match[str]] | None:
    """The symptom in a text that names most of the cause, with its match; None if the text has no symptom."""
    plain = " ".join(text.split())
    searches = [
        (symptom, symptom.pattern.search(plain)) for symptom in symptoms() if origin in symptom.origins
    ]
    matches = [(entry, match) for entry, match in searches if match is not None]
    return min(matches, key=lambda pair: pair[0].rank, default=None)


def fill_template(template: str, match: re.Match[str]) -> str:
    """A symptom's cause or remedy with what its pattern's groups match."""
    groups = {name: _short(value) for name, value in match.groupdict(default="").items()}
    return template.format_map(groups) if groups else template


def _short(value: str) -> str:
    value = value.rpartition("::")[2].rstrip(' "|;')
    return value if len(value) <= MAX_CHARACTERS else f"{value[:MAX_CHARACTERS]}…"


def _symptom(name: str, facts: Mapping[str, Any]) -> Symptom:
    origins = frozenset(EvidenceOrigin(place) for place in facts["where"])
    return Symptom(
        name=name,
        # The endpoint check and the local fleet quote the container in an event or a failure reason.
        origins=origins | {EvidenceOrigin.EVENT, EvidenceOrigin.REASON}
        if EvidenceOrigin.LOG in origins
        else origins,
        pattern=re.compile(facts["pattern"]),
        codes=tuple(facts["codes"]),
        cause=facts.get("cause", ""),
        remedy=facts["remedy"],
        key=tuple(facts["key"].split(".")) if "key" in facts else (),
        rank=facts.get("rank", 1),
        source=facts["source"],
        date=str(facts["date"]),
        example=" ".join(facts["example"].split()),
    )
