"""The release and the instance of a proposed endpoint: the cheapest on which nothing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from fleet.catalog.images import releases
from fleet.catalog.instances import Instance
from fleet.findings import Finding, Severity

FindingsOf = Callable[[str, Instance], Sequence[Finding]]
"""What is wrong or doubtful with a release on an instance."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is taken, and what was not.

    Attributes:
        findings: What remains to be said of it.
        newer: The next release and the first thing that is wrong with it there; None if it is the newest.
        newest_on: The cheapest other instance for the newest release, where there is one.
        passed_over: A cheaper instance, and why it is none.
    """

    release: str
    machine: Instance
    findings: tuple[Finding, ...]
    newer: tuple[str, str] | None
    newest_on: tuple[str, Instance] | None
    passed_over: tuple[Instance, str] | None


def chosen(machines: Sequence[Instance], lacks: Callable[[Instance], str], findings_of: FindingsOf) -> Choice:
    """The first of the instances with the newest release on which the least is wrong.

    Errors weigh most, then a lack of room, then doubts.

    Args:
        machines: The cheapest first.
        lacks: What an instance has too little of; empty where there is room.
        findings_of: Asked once for each pair that is looked at.
    """
    ask = cache(lambda release, machine: tuple(findings_of(release, machine)))
    newest_first = releases()[::-1]

    def weight(release: str, machine: Instance) -> tuple[int, bool, int]:
        found = ask(release, machine)
        errors = sum(each.severity is Severity.ERROR for each in found)
        return errors, bool(lacks(machine)), len(found) - errors

    roomy_first = sorted(machines, key=lambda each: bool(lacks(each)))
    release, machine = _lightest([(name, each) for each in roomy_first for name in newest_first], weight)
    best = weight(release, machine)
    newer = newest_first[: newest_first.index(release)]
    newest_on = next(
        ((name, each) for name in newer for each in machines if weight(name, each) <= best), None
    )
    return Choice(
        release=release,
        machine=machine,
        findings=ask(release, machine),
        newer=(newer[-1], _refusal(ask(newer[-1], machine), ask(release, machine))) if newer else None,
        newest_on=newest_on,
        passed_over=next(_passed_over(machines, machine, release, lacks, ask), None),
    )


def _lightest(
    pairs: Sequence[tuple[str, Instance]], weight: Callable[[str, Instance], tuple[int, bool, int]]
) -> tuple[str, Instance]:
    """The first pair of the least weight; none is looked at after one without any."""
    best, least = pairs[0], weight(*pairs[0])
    for pair in pairs[1:]:
        if least == (0, False, 0):
            break
        if (found := weight(*pair)) < least:
            best, least = pair, found
    return best


def _passed_over(
    machines: Sequence[Instance],
    machine: Instance,
    release: str,
    lacks: Callable[[Instance], str],
    ask: Callable[[str, Instance], tuple[Finding, ...]],
) -> Iterator[tuple[Instance, str]]:
    """Cheaper instances, the cheapest first."""
    for each in machines[: machines.index(machine)]:
        yield each, lacks(each) or _refusal(ask(release, each), ask(release, machine))


def _refusal(found: Sequence[Finding], accepted: Sequence[Finding]) -> str:
    """The worst that is said of what was not taken, and not of what was."""
    codes = {each.code for each in accepted}
    others = [each for each in found if each.code not in codes]
    worst = sorted(others, key=lambda each: each.severity is not Severity.ERROR)
    return f"{worst[0].message} ({worst[0].code})" if worst else ""
