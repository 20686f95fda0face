"""The warnings and findings of an environment, each once with the endpoints that it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.endpoint_group import MAX_NAMES, EndpointGroup, label, names_by_owner, without_name
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.changes.wording import finding_line, need_words
from triton_fleet.core.sizes import count_of
from triton_fleet.findings import Finding, Severity


@dataclass(frozen=True, kw_only=True)
class RepeatedLine:
    """A text about endpoints; `names` are several of them by owner where no row lists the same ones."""

    text: str
    names: tuple[str, ...] = ()


class RepeatedLines:
    """The lines about the endpoints of an environment, whose groups are listed already."""

    def __init__(self, groups: Sequence[EndpointGroup]) -> None:
        self._members = [member for group in groups for member in group.members]
        self._owners = {member.endpoint: member.owner for member in self._members}
        self._listed = {frozenset(group.names) for group in groups}

    def warnings(self) -> Iterator[RepeatedLine]:
        """The warnings for a reviewer before the merge."""
        texts = defaultdict[tuple[bool, str], list[tuple[EndpointChange, str]]](list)
        needs = defaultdict[tuple[str, bool, bool], list[EndpointChange]](list)
        for member in self._members:
            for text in filter(None, (member.problem, *member.warnings)):
                texts[text is member.problem, without_name(text, member.endpoint)].append((member, text))
            if member.need:
                is_new = member.effect is UpdateEffect.CREATED
                needs[member.need.type, bool(member.need.beside), is_new].append(member)
        for (is_problem, common), found in texts.items():
            members = [each for each, _ in found]
            text = common if len(members) > 1 else found[0][1]
            subject = self._label(members)
            if is_problem:
                text = f"{subject} cannot be compared: {text}"
            elif len(members) > 1:
                text = f"{subject}: {text}"
            yield self._line(members, text)
        for members in needs.values():
            words = need_words(self._label(members), members)
            yield RepeatedLine(text=f"{words}: `{_preflight(members)}`")

    def findings(self, findings: Iterable[Finding]) -> Iterator[str]:
        """A line for each, the endpoints below it where there are several."""
        found = defaultdict[tuple[str, Severity, str, bool], list[tuple[Finding, tuple[str, ...]]]](list)
        for finding in findings:
            names = finding.endpoints or self._named(finding)
            message = without_name(finding.message, names[0]) if len(names) == 1 else finding.message
            found[finding.code, finding.severity, message, finding.confidential].append((finding, names))
        for (_, _, message, _), same in found.items():
            names = tuple(dict.fromkeys(name for _, several in same for name in several))
            if len(names) < 2:
                yield from (finding_line(each) for each, _ in same)
                continue
            more = f" (and {count_of(len(same) - 1, 'more place')})" * (len(same) > 1)
            first = replace(same[0][0], message=message)
            yield f"{finding_line(first)}{more}: {label(names, self._owners)}"
            yield from (f"  {line}" for line in self._names(names))

    def _named(self, finding: Finding) -> tuple[str, ...]:
        """The endpoint whose spec or lock a file is, by its name."""
        name = finding.file.name.partition(".")[0] if finding.file else ""
        return (name,) if name in self._owners else ()

    def _label(self, members: Sequence[EndpointChange]) -> str:
        return label([member.endpoint for member in members], self._owners)

    def _line(self, members: Sequence[EndpointChange], text: str) -> RepeatedLine:
        return RepeatedLine(text=text, names=self._names([member.endpoint for member in members]))

    def _names(self, names: Sequence[str]) -> tuple[str, ...]:
        if len(names) <= MAX_NAMES or frozenset(names) in self._listed:
            return ()
        return names_by_owner(names, self._owners)


def _preflight(members: Sequence[EndpointChange]) -> str:
    named = "".join(f" {member.endpoint}" for member in members) if len(members) <= MAX_NAMES else ""
    return f"fleet preflight --env {members[0].environment}{named}"
