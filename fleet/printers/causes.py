"""Findings by their cause: one that many endpoints have in common is printed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.findings import Finding

REPEATED = 3
"""So many files with one cause are printed one by one; more are one cause."""
LISTED = 5
"""The endpoints or places that a person is shown; the formats for machines have all of them."""


@dataclass(frozen=True)
class Cause:
    """The first finding of a cause, and the findings in other files that differ in their names alone."""

    first: Finding
    others: tuple[Finding, ...] = ()

    @property
    def extent(self) -> str:
        """What else it hits, such as "40 endpoints: a, b, c, d, e and 35 more"; empty for one place."""
        if self.others:
            places = [each.place for each in self.others]
            return f"the same in {len(places)} more files: {_listed(places)}"
        names = self.first.endpoints
        return f"{len(names)} endpoints: {_listed(names)}" if len(names) > 1 else ""


def causes(findings: Sequence[Finding]) -> list[Cause]:
    """The findings in their order, those of one cause where the first of them is."""
    groups = dict[tuple[str, ...], list[Finding]]()
    for finding in findings:
        groups.setdefault(_key(finding), []).append(finding)
    found = list[Cause]()
    for group in groups.values():
        if len({each.file for each in group}) > REPEATED:
            found.append(Cause(group[0], tuple(group[1:])))
        else:
            found += map(Cause, group)
    order = {id(finding): number for number, finding in enumerate(findings)}
    return sorted(found, key=lambda cause: order[id(cause.first)])


def _key(finding: Finding) -> tuple[str, ...]:
    """What findings of one cause have in common: everything but the name of the endpoint or file."""
    name = finding.file.name.partition(".")[0] if finding.file else ""
    texts = [finding.message, finding.hint]
    if name:
        texts = [text.replace(name, "\0") for text in texts]
    return (finding.code, finding.severity, *texts)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"
