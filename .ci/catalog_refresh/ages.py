"""How old the facts of the catalog are, by their own dates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from catalog_refresh.proposal import read_facts

MAX_DAYS = 180
"""After which somebody should look at a fact again."""
MAX_NAMES = 5
"""Of a file's facts, in a message."""
ABOUT = ("source", "date")


@dataclass(frozen=True, kw_only=True)
class Age:
    """A file of the catalog: the names of its facts, the day of their last verification, the days since."""

    file: str
    facts: tuple[str, ...]
    verification: date
    days: int

    def __str__(self) -> str:
        more = len(self.facts) - MAX_NAMES
        names = ", ".join(self.facts[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
        return f"{self.file}: {names}: last verified on {self.verification}, {self.days} days ago"


def ages(folder: Path, today: date) -> Iterator[Age]:
    """Each file's age, the oldest first."""
    file_ages = []
    for file in sorted(entry.name for entry in folder.iterdir()):
        content = read_facts(folder, file)
        verification = date.fromisoformat(str(content["date"]))
        days = (today - verification).days
        file_ages.append(Age(file=file, facts=_names(content), verification=verification, days=days))
    yield from sorted(file_ages, key=lambda age: (-age.days, age.file))


def stale_facts(folder: Path, today: date, max_days: int = MAX_DAYS) -> Iterator[Age]:
    """Those that nobody has verified for more days than these."""
    yield from (age for age in ages(folder, today) if age.days > max_days)


def _names(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The sections of a file, or what its only section has."""
    sections = {name: value for name, value in content.items() if name not in ABOUT}
    (first, *rest) = sections.values()
    return tuple(map(str, first if isinstance(first, dict) and not rest else sections))
