"""Findings by their cause: one that many endpoints have in common is printed once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from triton_fleet.findings import Finding

MAX_REPEATS = 3
"""So many places with one cause are printed one by one; more are one cause."""


@dataclass(frozen=True)
class Extent:
    """The extent of one cause: "40 endpoints", or "the same in 39 more files", and their names."""

    title: str
    names: tuple[str, ...]

    def first(self, count: int) -> str:
        """A line with no more than `count` of the names, and the number of the others."""
        rest = len(self.names) - count
        return f"{self.title}: {', '.join(self.names[:count])}{f' and {rest} more' if rest > 0 else ''}"


@dataclass(frozen=True)
class Cause:
    """The first finding of a cause, and the findings in other places that differ in their names alone."""

    first: Finding
    repeats: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them."""
        return (self.first, *self.repeats)

    @property
    def hint(self) -> str:
        """The hint for all of them."""
        hint = self.first.hint_for_several
        if hint is None or not self.repeats:
            return self.first.hint
        hints = [finding.hint_for_several for finding in self.findings if finding.hint_for_several]
        return str(replace(hint, names=tuple(dict.fromkeys(name for hint in hints for name in hint.names))))

    def extents(self, place_of: Callable[[Finding], str]) -> Iterator[Extent]:
        """The other places, as `place` names them, and the endpoints that all are about."""
        if self.repeats:
            files = {finding.file for finding in self.findings}
            noun = "files" if len(files) == len(self.findings) else "places"
            yield Extent(f"the same in {len(self.repeats)} more {noun}", tuple(map(place_of, self.repeats)))
        names = tuple(dict.fromkeys(name for finding in self.findings for name in finding.endpoints))
        if len(names) > 1:
            yield Extent(f"{len(names)} endpoints", names)


def causes(findings: Sequence[Finding]) -> list[Cause]:
    """The findings in their order, those of one cause where the first of them is."""
    groups = dict[tuple[str, ...], list[Finding]]()
    for finding in findings:
        groups.setdefault(_key(finding), []).append(finding)
    result = list[Cause]()
    for group in groups.values():
        if len({member.place for member in group}) > MAX_REPEATS:
            result.append(Cause(group[0], tuple(group[1:])))
        else:
            result += map(Cause, group)
    order = {id(finding): number for number, finding in enumerate(findings)}
    return sorted(result, key=lambda cause: order[id(cause.first)])


def _key(finding: Finding) -> tuple[str, ...]:
    """The common part of one cause's findings: everything but the name of the endpoint or file."""
    name = finding.file.name.partition(".")[0] if finding.file else ""
    hint = finding.hint_for_several
    texts = [finding.message, hint.text if hint else finding.hint]
    if name:
        texts = [text.replace(name, "\0") for text in texts]
    return (finding.code, finding.severity, *texts)
