"""Decisions: a value, the reason for it, and the dated facts that the reason rests on."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.catalog.data_file import data_file


@dataclass(frozen=True)
class DatedFacts:
    """A data file of the catalog, and the date of its facts as YYYY-MM-DD."""

    file: str
    date: str


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One thing that follows from a spec, with its reason in one line.

    Attributes:
        group: What it belongs to, such as "image".
        what: The thing, such as "host image"; several of one group may be called the same.
        value: As a person writes it; None where it cannot be decided.
        facts: The data files that the reason rests on.
        certain: Whether a source proves those facts.
    """

    group: str
    what: str
    value: str | None
    reason: str
    facts: tuple[DatedFacts, ...] = ()
    certain: bool = True


def dated_facts(file: str) -> DatedFacts:
    """A data file of the catalog with its date."""
    return DatedFacts(file, str(data_file(file)["date"]))
