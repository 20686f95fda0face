"""Costs of endpoints by owner, tag, profile or environment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from triton_fleet.context.cost import EndpointCost, EndpointCosts, FleetCost
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.selection.condition import key_values
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.problems import did_you_mean

TAG = re.compile(r"tag:.+")
NOTHING = "(none)"
"""The group of endpoints without an owner, that tag or a profile."""


@dataclass(frozen=True, kw_only=True)
class CostGroup(EndpointCosts):
    """Endpoints with one owner, value of a tag, profile or environment in common."""

    name: str


Labels = Callable[[Environment, LoadedSpec], Iterable[str]]
"""The groups of an endpoint."""


def labels_by(by: str) -> Labels:
    """The labels that `--by` names: `owner`, `profile`, `environment` or `tag:NAME`.

    Raises:
        FindingsError: it is none of these.
    """
    if by == "environment":
        return lambda environment, loaded: [environment.environment]
    if by in ("owner", "profile") or TAG.fullmatch(by):
        return lambda environment, loaded: filter(None, key_values(by, loaded, environment))
    hint = did_you_mean(by, ["environment", "owner", "profile", "tag:NAME"], list_all=True)
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
