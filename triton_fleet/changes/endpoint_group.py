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
from triton_fleet.core.formats import count_of

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

    def variants(self, parts: Callable[[EndpointChange], Iterable[T]]) -> Mapping[T, int]:
        """How many members have each part, in which `NAME` stands for the endpoint."""
        common_members = self.members if len(self.members) == 1 else map(_without_name, self.members)
        return Counter(part for member in common_members for part in parts(member))

    def difference_range(self, cost: Callable[[EndpointChange], CostChange]) -> tuple[Cost, Cost] | None:
        """The smallest and the largest difference of one endpoint's `cost`; None for one, or without any."""
        amounts = [
            difference.per_hour
            for member in self.members
            if (difference := cost(member).difference) and difference.per_hour
        ]
        if len(amounts) < 2:
            return None
        return Cost(per_hour=min(amounts)), Cost(per_hour=max(amounts))


def endpoint_groups(endpoints: Iterable[EndpointChange]) -> list[EndpointGroup]:
    """The groups: what interrupts first, then the changes that are unlike the others, then by risk."""
    by_key = defaultdict[object, list[EndpointChange]](list)
    for endpoint in endpoints:
        by_key[_key(endpoint)].append(endpoint)
    groups = [_group(sorted(group, key=lambda change: change.endpoint)) for group in by_key.values()]
    return sorted(
        groups, key=lambda group: (not group.common.effect.interrupts, len(group.members), group.rank)
    )


def label(names: Sequence[str], owners: Mapping[str, str | None]) -> str:
    """The names of a few endpoints; the number of more, and of their owners."""
    if len(names) <= MAX_NAMES:
        return ", ".join(names)
    teams = {owner for name in names if (owner := owners.get(name))}
    return f"{len(names)} endpoints" + f" of {count_of(len(teams), 'owner')}" * bool(teams)


def names_by_owner(names: Iterable[str], owners: Mapping[str, str | None]) -> tuple[str, ...]:
    """A line for each owner with its endpoints; those without one have a line of their own."""
    by_owner = defaultdict[str, list[str]](list)
    for name in names:
        by_owner[owners.get(name) or ""].append(name)
    return tuple(f"{owner}: " * bool(owner) + ", ".join(mine) for owner, mine in sorted(by_owner.items()))


def without_name(text: str, name: str) -> str:
    """A text in which `NAME` stands for an endpoint; parts of longer names and of files stay."""
    return re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", NAME, text)


def _key(change: EndpointChange) -> object:
    """The parts of a change that a row and its warnings show; of money which way it goes."""
    common = _without_name(change)
    words = common.traffic.words if common.traffic else None
    texts = (
        common.changes,
        common.content,
        common.builds,
        common.areas,
        common.warnings,
        common.problem,
        common.other_name,
    )
    return (
        common.effect,
        common.new_model,
        words,
        *texts,
        _direction(common.min_cost),
        _direction(common.max_cost),
    )


def _direction(cost: CostChange) -> tuple[bool, bool, bool, int]:
    difference = cost.difference.per_hour if cost.difference else Decimal(0)
    return cost.same, cost.before is None, cost.after is None, (difference > 0) - (difference < 0)


def _group(members: Sequence[EndpointChange]) -> EndpointGroup:
    if len(members) == 1:
        return EndpointGroup(members=(members[0],), common=members[0])
    common = replace(
        _without_name(members[0]),
        min_cost=_cost_sum(member.min_cost for member in members),
        max_cost=_cost_sum(member.max_cost for member in members),
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


def _without_name(change: EndpointChange) -> EndpointChange:
    def common(texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(without_name(text, change.endpoint) for text in texts)

    return replace(
        change,
        endpoint=NAME,
        changes=common(change.changes),
        content=common(change.content),
        builds=common(change.builds),
        permissions=common(change.permissions),
        warnings=common(change.warnings),
        problem=without_name(change.problem, change.endpoint),
        resources=tuple(
            replace(resource, logical_id=_HASH.sub("", resource.logical_id)) for resource in change.resources
        ),
    )
