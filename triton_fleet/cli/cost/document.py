"""Costs of endpoints by owner, tag, profile or environment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal

from triton_fleet.catalog.prices import CURRENCY, price_list
from triton_fleet.context.cost import MONTH, YEAR, Cost, EndpointCost, EndpointCosts, FleetCost, Saving
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec
from triton_fleet.selection.condition import key_values
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.prices import PriceBook
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


VERSION = 2
"""Raised when a field of the JSON is removed or changes its meaning, not when one is added."""


def cost_document(found: FleetCost) -> dict[str, object]:
    """The JSON document; money is text, so that no reader rounds it; None if unknown."""
    return {
        "version": VERSION,
        "environment": found.environment.environment,
        "account": found.environment.account,
        "region": found.environment.region,
        **_prices(found.prices),
        "hours": {"month": MONTH, "year": YEAR},
        "endpoints": [_endpoint(found, endpoint) for endpoint in found.endpoints],
        "total": {"min": _money(found.at_least), "max": _money(found.at_most)},
        "not_in_total": [each.endpoint for each in found.unpriced],
        "dashboards": {"count": found.dashboards, "monthly": _text(found.dashboards_monthly)},
    }


def _prices(prices: PriceBook) -> dict[str, object]:
    own = prices.own.model_dump(mode="json") if prices.own else None
    return {"currency": prices.currency, "prices": asdict(price_list()), "own_prices": own}


def groups_document(by: str, fleets: Sequence[FleetCost], groups: Sequence[CostGroup]) -> dict[str, object]:
    """The JSON document of `--by`; an endpoint of several profiles is in several groups."""
    return {
        "version": VERSION,
        "by": by,
        "environments": [fleet.environment.environment for fleet in fleets],
        **_prices(fleets[0].prices),
        "hours": {"month": MONTH, "year": YEAR},
        "groups": [
            {
                "name": group.name,
                "endpoints": list(map(_named, group.endpoints)),
                "min": _money(group.at_least),
                "max": _money(group.at_most),
                "not_in_sums": list(map(_named, group.unpriced)),
            }
            for group in groups
        ],
    }


def _named(each: EndpointCost) -> dict[str, str]:
    """An endpoint may be in several of the environments."""
    return {"environment": each.environment, "endpoint": each.endpoint}


def _endpoint(found: FleetCost, each: EndpointCost) -> dict[str, object]:
    hourly = _text(each.price.hourly if each.price else None)
    return {
        "endpoint": each.endpoint,
        "owner": each.owner,
        "instance_type": each.instance_type,
        "usd_per_hour": hourly if found.prices.currency == CURRENCY else None,
        "price_per_hour": hourly,
        "price_origin": each.price.origin if each.price else None,
        "certain": each.certain,
        "min": {"instances": each.least, **_money(each.at_least)},
        "max": {"instances": each.most, **_money(each.at_most)},
        "archives": each.archives,
        "routes": each.routes,
        "saving": None if each.saving is None else _saving_document(each.saving),
    }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def _money(cost: Cost | None) -> dict[str, str | None]:
    if cost is None:
        return {"hourly": None, "monthly": None}
    return {"hourly": f"{cost.hourly:.4f}", "monthly": str(cost.monthly)}


def _saving_document(saving: Saving) -> dict[str, str]:
    return {
        "apart_hourly": f"{saving.apart.hourly:.4f}",
        "percent": str(saving.percent),
        "yearly": str(saving.cost.yearly),
    }
