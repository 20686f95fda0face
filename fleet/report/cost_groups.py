"""What endpoints cost by owner, tag, profile or environment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from fleet.endpoint.context.tags import endpoint_tags
from fleet.findings import Finding, FindingsError
from fleet.report.cost import Cost, EndpointCost, FleetCost, sum_of
from fleet.spec.environment import Environment
from fleet.spec.problems import did_you_mean
from fleet.spec.project import LoadedSpec

TAG = re.compile(r"tag:(.+)")
NOTHING = "(none)"
"""The group of endpoints without an owner, that tag or a profile."""


@dataclass(frozen=True, kw_only=True)
class CostGroup:
    """What has one owner, value of a tag, profile or environment in common."""

    name: str
    endpoints: tuple[EndpointCost, ...]

    @property
    def at_least(self) -> Cost | None:
        """Of the fewest instances; None where no price is known."""
        return sum_of(each.at_least for each in self.endpoints)

    @property
    def at_most(self) -> Cost | None:
        """Of the most instances; None where no price is known."""
        return sum_of(each.at_most for each in self.endpoints)

    @property
    def unpriced(self) -> int:
        """How many endpoints no sum has in it."""
        return sum(each.price is None for each in self.endpoints)


Labels = Callable[[Environment, LoadedSpec], Iterable[str]]
"""The groups of an endpoint."""
_LABELS: Mapping[str, Labels] = {
    "owner": lambda environment, loaded: [loaded.spec.owner.team] if loaded.spec.owner else [],
    "profile": lambda environment, loaded: loaded.profiles,
    "environment": lambda environment, loaded: [environment.environment],
}


def labels_by(by: str) -> Labels:
    """What `--by` names: `owner`, `profile`, `environment` or `tag:NAME`.

    Raises:
        FindingsError: it is none of these.
    """
    if found := TAG.fullmatch(by):
        tag = found[1]
        return lambda environment, loaded: filter(None, [endpoint_tags(environment, loaded.spec).get(tag)])
    if by in _LABELS:
        return _LABELS[by]
    hint = did_you_mean(by, [*_LABELS, "tag:NAME"], list_all=True)
    raise FindingsError([Finding(code="FL112", message=f"costs cannot be grouped by {by!r}", hint=hint)])


def cost_groups(fleets: Iterable[tuple[FleetCost, Sequence[LoadedSpec]]], labels: Labels) -> list[CostGroup]:
    """The groups, the most expensive first; an endpoint of two profiles is in both."""
    members = defaultdict[str, list[EndpointCost]](list)
    for found, loaded in fleets:
        for cost, each in zip(found.endpoints, loaded, strict=True):
            for label in tuple(labels(found.environment, each)) or (NOTHING,):
                members[label].append(cost)
    groups = [CostGroup(name=name, endpoints=tuple(costs)) for name, costs in members.items()]
    return sorted(groups, key=lambda group: (-(group.at_most.hourly if group.at_most else 0), group.name))
