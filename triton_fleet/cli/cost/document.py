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
NO_LABEL = "(none)"
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
        return lambda environment, loaded_spec: [environment.environment]
    if by in ("owner", "profile") or TAG.fullmatch(by):
        return lambda environment, loaded_spec: filter(None, key_values(by, loaded_spec, environment))
    hint = did_you_mean(by, ["environment", "owner", "profile", "tag:NAME"], whole_list=True)
    raise FindingsError([Finding(code="FL112", message=f"costs cannot be grouped by {by!r}", hint=hint)])


def cost_groups(fleets: Iterable[tuple[FleetCost, Sequence[LoadedSpec]]], labels: Labels) -> list[CostGroup]:
    """The groups, the most expensive first; an endpoint of two profiles is in both."""
    members = defaultdict[str, list[EndpointCost]](list)
    for fleet, specs in fleets:
        for cost, loaded_spec in zip(fleet.endpoints, specs, strict=True):
            for label in tuple(labels(fleet.environment, loaded_spec)) or (NO_LABEL,):
                members[label].append(cost)
    groups = [CostGroup(name=name, endpoints=tuple(costs)) for name, costs in members.items()]
    return sorted(groups, key=lambda group: (-(group.max_cost.per_hour if group.max_cost else 0), group.name))


VERSION = 2
"""Raised when a field of the JSON is removed or changes its meaning, not when one is added."""


def cost_document(fleet: FleetCost) -> dict[str, object]:
    """The JSON document; money is text, so that no reader rounds it; None if unknown."""
    return {
        "version": VERSION,
        "environment": fleet.environment.environment,
        "account": fleet.environment.account,
        "region": fleet.environment.region,
        **_prices(fleet.prices),
        "hours": {"month": MONTH, "year": YEAR},
        "endpoints": [_endpoint(fleet, endpoint) for endpoint in fleet.endpoints],
        "total": {"min": _money(fleet.min_cost), "max": _money(fleet.max_cost)},
        "not_in_total": [unpriced_endpoint.endpoint for unpriced_endpoint in fleet.unpriced_endpoints],
        "dashboards": {"count": fleet.dashboards, "monthly": _text(fleet.dashboards_per_month)},
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
                "endpoints": list(map(_identity, group.endpoints)),
                "min": _money(group.min_cost),
                "max": _money(group.max_cost),
                "not_in_sums": list(map(_identity, group.unpriced_endpoints)),
            }
            for group in groups
        ],
    }


def _identity(endpoint: EndpointCost) -> dict[str, str]:
    """An endpoint may be in several of the environments."""
    return {"environment": endpoint.environment, "endpoint": endpoint.endpoint}


def _endpoint(fleet: FleetCost, endpoint: EndpointCost) -> dict[str, object]:
    hourly_price = _text(endpoint.price.per_hour if endpoint.price else None)
    return {
        "endpoint": endpoint.endpoint,
        "owner": endpoint.owner,
        "instance_type": endpoint.instance_type,
        "usd_per_hour": hourly_price if fleet.prices.currency == CURRENCY else None,
        "price_per_hour": hourly_price,
        "price_origin": endpoint.price.origin if endpoint.price else None,
        "certain": endpoint.certain,
        "min": {"instances": endpoint.min_instances, **_money(endpoint.min_cost)},
        "max": {"instances": endpoint.max_instances, **_money(endpoint.max_cost)},
        "archives": endpoint.archives,
        "routes": endpoint.routes,
        "saving": None if endpoint.saving is None else _saving_document(endpoint.saving),
    }


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else str(amount)


def _money(cost: Cost | None) -> dict[str, str | None]:
    if cost is None:
        return {"hourly": None, "monthly": None}
    return {"hourly": f"{cost.per_hour:.4f}", "monthly": str(cost.per_month)}


def _saving_document(saving: Saving) -> dict[str, str]:
    return {
        "apart_hourly": f"{saving.separate_cost.per_hour:.4f}",
        "percent": str(saving.percent),
        "yearly": str(saving.cost.per_year),
    }
