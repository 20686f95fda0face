"""Changes of a fleet, for tests of what is written about them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.fleet_change import FleetChange
from triton_fleet.changes.money_change import CostChange
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.cost import Cost
from triton_fleet.spec.prices import PriceBook


def cost(before: str | None, after: str) -> CostChange:
    old = None if before is None else Cost(per_hour=Decimal(before))
    return CostChange(before=old, after=Cost(per_hour=Decimal(after)))


def change(
    name: str = "sentences", effect: UpdateEffect = UpdateEffect.IN_PLACE, **keys: Any
) -> EndpointChange:
    known_values: dict[str, Any] = {
        "environment": "prod",
        "endpoint": name,
        "owner": None,
        "effect": effect,
        "changes": ("scaling.max 4 → 20",),
        "content": (),
        "builds": (),
        "new_model": False,
        "areas": ("scaling",),
        "traffic": None,
        "need": None,
        "is_scaled": False,
        "limits": (None, None),
        "min_cost": cost("1", "1"),
        "max_cost": cost("4", "20"),
        "certain_price": True,
        "permissions": (),
        "warnings": (),
        "resources": (),
    }
    return EndpointChange(**{**known_values, **keys})


def fleet(*endpoints: EndpointChange, **keys: Any) -> FleetChange:
    actual_endpoints = sorted(endpoints, key=lambda item: item.rank)
    place = EnvironmentChange(name="prod", region="us-east-1", endpoints=tuple(actual_endpoints), **keys)
    return FleetChange(reference="main", commit="a" * 40, environments=(place,), prices=PriceBook())
