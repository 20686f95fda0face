"""Endpoints of an environment whose changes read the same: one row of a report with their number."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeVar

from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.money_change import CostChange
from triton_fleet.context.cost import Cost, sum_of
from triton_fleet.core.sizes import count_of

T = TypeVar("T")
NAME = "NAME"
"""Stands for the name of each endpoint in a text that several have in common."""
_HASH = re.compile(r"[0-9A-F]{8,}$")
"""The suffix that the CDK adds to a logical id: it follows from the endpoint's own configuration."""
MAX_NAMES = 3
"""Endpoints named in one line; more are counted."""


@dataclass(frozen=True, kw_only=True)
class EndpointGroup:
    """Endpoints of which a reviewer reads the same, by name.

    Attributes:
        members: Their changes.
        common: The change that stands for them: that of the only one, or that of `NAME` with all costs.
    """

    members: tuple[EndpointChange, ...]
    common: EndpointChange

    @property
    def names(self) -> tuple[str, ...]:
        """The endpoints."""
        return tuple(member.endpoint for member in self.members)

    @property
    def owners(self) -> Mapping[str, str | None]:
        """The team of each."""
        return {member.endpoint: member.owner for member in self.members}

    @property
    def label(self) -> str:
        """The names of a few endpoints; the number of more, and of their owners."""
        return label(self.names, self.owners)

    @property
    def folded_names(self) -> tuple[str, ...]:
        """The names by owner where the label has none."""
        return names_by_owner(self.names, self.owners) if len(self.members) > MAX_NAMES else ()

    @property
    def rank(self) -> tuple[int, bool, Decimal, str]:
        """The place by risk, by the sum of costs."""
        return (*self.common.rank[:-1], self.names[0])

    @property
    def each_least(self) -> tuple[Cost, Cost] | None:
        """The smallest and the largest difference of one endpoint at min; None for one, or without any."""
        return self._range(lambda each: each.least)

    @property
    def each_most(self) -> tuple[Cost, Cost] | None:
        """The same at max."""
        return self._range(lambda each: each.most)

    def variants(self, parts: Callable[[EndpointChange], Iterable[T]]) -> Mapping[T, int]:
        """How many members have each part, in which `NAME` stands for the endpoint."""
        named = self.members if len(self.members) == 1 else map(_without_name, self.members)
        return Counter(part for each in named for part in parts(each))

    def _range(self, cost: Callable[[EndpointChange], CostChange]) -> tuple[Cost, Cost] | None:
        found = [each.hourly for one in self.members if (each := cost(one).difference) and each.hourly]
        if len(found) < 2:
            return None
        return Cost(hourly=min(found)), Cost(hourly=max(found))


def endpoint_groups(endpoints: Iterable[EndpointChange]) -> list[EndpointGroup]:
    """The groups: what interrupts first, then the changes that are unlike the others, then by risk."""
    found = defaultdict[object, list[EndpointChange]](list)
    for endpoint in endpoints:
        found[_key(endpoint)].append(endpoint)
    groups = [_group(sorted(each, key=lambda one: one.endpoint)) for each in found.values()]
    return sorted(groups, key=lambda each: (not each.common.effect.interrupts, len(each.members), each.rank))


def label(names: Sequence[str], owners: Mapping[str, str | None]) -> str:
    """The names of a few endpoints; the number of more, and of their owners."""
    if len(names) <= MAX_NAMES:
        return ", ".join(names)
    teams = {owner for name in names if (owner := owners.get(name))}
    return f"{len(names)} endpoints" + f" of {count_of(len(teams), 'owner')}" * bool(teams)


def names_by_owner(names: Iterable[str], owners: Mapping[str, str | None]) -> tuple[str, ...]:
    """A line for each owner with its endpoints; those without one have a line of their own."""
    found = defaultdict[str, list[str]](list)
    for name in names:
        found[owners.get(name) or ""].append(name)
    return tuple(f"{owner}: " * bool(owner) + ", ".join(mine) for owner, mine in sorted(found.items()))


def without_name(text: str, name: str) -> str:
    """A text in which `NAME` stands for an endpoint; parts of longer names and of files stay."""
    return re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", NAME, text)


def _key(change: EndpointChange) -> object:
    """The parts of a change that a row and its warnings show; of money which way it goes."""
    each = _without_name(change)
    words = each.traffic.words if each.traffic else None
    texts = (each.changes, each.content, each.built, each.areas, each.warnings, each.problem, each.renamed)
    return (each.effect, each.new_model, words, *texts, _direction(each.least), _direction(each.most))


def _direction(cost: CostChange) -> tuple[bool, bool, bool, int]:
    difference = cost.difference.hourly if cost.difference else Decimal(0)
    return cost.same, cost.before is None, cost.after is None, (difference > 0) - (difference < 0)


def _group(members: Sequence[EndpointChange]) -> EndpointGroup:
    if len(members) == 1:
        return EndpointGroup(members=(members[0],), common=members[0])
    common = replace(
        _without_name(members[0]),
        least=_cost_sum(member.least for member in members),
        most=_cost_sum(member.most for member in members),
        certain_price=all(member.certain_price for member in members),
    )
    return EndpointGroup(members=tuple(members), common=common)


def _cost_sum(costs: Iterable[CostChange]) -> CostChange:
    """The sums before and after; unknown if one of them is."""
    members = [*costs]
    before, after = (
        None if None in side else sum_of(side)
        for side in zip(*((member.before, member.after) for member in members), strict=True)
    )
    return CostChange(before=before, after=after, same=all(member.same for member in members))


def _without_name(each: EndpointChange) -> EndpointChange:
    def common(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(without_name(text, each.endpoint) for text in texts)

    return replace(
        each,
        endpoint=NAME,
        changes=common(each.changes),
        content=common(each.content),
        built=common(each.built),
        permissions=common(each.permissions),
        warnings=common(each.warnings),
        problem=without_name(each.problem, each.endpoint),
        resources=tuple(replace(one, logical_id=_HASH.sub("", one.logical_id)) for one in each.resources),
    )
