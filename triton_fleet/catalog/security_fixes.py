"""Security fixes of Triton's SageMaker front end: the first release and the containers of each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from triton_fleet.catalog.data_file import data_file


class FixSeverity(StrEnum):
    """The severities of the mistake that a fix removes, the least bad first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """Its place among the severities, 0 for the least bad."""
        return list(FixSeverity).index(self)


@dataclass(frozen=True, kw_only=True)
class SecurityFix:
    """One fix, by its id.

    Attributes:
        pulls: Pull requests of triton-inference-server/server.
        first: The first release with the fix; None while no release has it.
        not_before: The release that may have it first, where `first` is None.
        since: The first release with the mistake; empty where all older ones have it.
        modes: Values of `mode` whose containers it concerns.
        flags: It concerns only containers with one of these flags; empty: all.
        instead: The measure where no image has the fix.
    """

    id: str
    pulls: tuple[int, ...]
    first: str | None
    modes: tuple[str, ...]
    severity: FixSeverity
    instead: str
    flags: tuple[str, ...] = ()
    since: str = ""
    not_before: str = ""

    def is_in(self, release: str) -> bool:
        """Whether a release, such as `26.05`, has the fix, or never had the mistake."""
        return release < self.since or (self.first is not None and release >= self.first)

    def concerns(self, mode: str, flags: Collection[str]) -> bool:
        """Whether containers of a mode with these flags of tritonserver run into the mistake."""
        return mode in self.modes and (not self.flags or not set(self.flags).isdisjoint(flags))

    @property
    def release_text(self) -> str:
        """The first release with the fix, as a message has it: `26.03`, `none before 26.09`."""
        return self.first or f"none before {self.not_before}"


@cache
def security_fixes() -> tuple[SecurityFix, ...]:
    """Every fix of the catalog, in the order of their releases."""
    return tuple(_fix(name, facts) for name, facts in data_file("security_fixes.yaml")["fixes"].items())


@cache
def missing_fixes(release: str, mode: str, flags: frozenset[str]) -> tuple[SecurityFix, ...]:
    """The fixes that a release lacks for containers of a mode with these flags, the worst first."""
    fixes = [
        security_fix
        for security_fix in security_fixes()
        if security_fix.concerns(mode, flags) and not security_fix.is_in(release)
    ]
    return tuple(sorted(fixes, key=lambda fix: -fix.severity.rank))


def _fix(name: str, facts: dict[str, Any]) -> SecurityFix:
    return SecurityFix(
        id=name,
        pulls=tuple(facts["pulls"]),
        first=facts["first"],
        modes=tuple(facts["modes"]),
        severity=FixSeverity(facts["severity"]),
        instead=facts["instead"],
        flags=tuple(facts.get("flags", ())),
        since=facts.get("since", ""),
        not_before=facts.get("not_before", ""),
    )
