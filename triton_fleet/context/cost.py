"""Costs of endpoints: their instances at the fewest and at the most, at the prices of a fleet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from triton_fleet.catalog.prices import Price
from triton_fleet.context.capacity import least_instances, most_instances
from triton_fleet.spec.endpoint import EndpointSpec, Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.prices import PriceBook

MONTH, YEAR = 24 * 30, 24 * 365
"""Hours. Source of a month: AWS's post "Serve multiple models with Amazon SageMaker and Triton Inference
Server", 0.94 * 24 * 30 = 676.8 USD."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Money an hour in a fleet's currency, exact; a month's and a year's to the cent."""

    per_hour: Decimal

    @property
    def per_month(self) -> Decimal:
        """For 720 hours."""
        return _cents(self.per_hour * MONTH)

    @property
    def per_year(self) -> Decimal:
        """For 8,760 hours."""
        return _cents(self.per_hour * YEAR)


@dataclass(frozen=True, kw_only=True)
class Saving:
    """The costs that an endpoint's fewest instances save over one of the same type for each archive or route.

    Below zero where there are fewer of those than instances.
    """

    separate_cost: Cost
    own_cost: Cost

    @property
    def cost(self) -> Cost:
        """The difference."""
        return Cost(per_hour=self.separate_cost.per_hour - self.own_cost.per_hour)

    @property
    def hours(self) -> Decimal:
        """How long a day the separate endpoints could run for the same money, all of them as long."""
        return (24 * self.own_cost.per_hour / self.separate_cost.per_hour).quantize(
            Decimal("0.1"), ROUND_HALF_UP
        )

    @property
    def percent(self) -> Decimal:
        """The share of the separate costs, with two decimals: one of 10,000 archives is 0.01 %."""
        return _cents(100 * self.cost.per_hour / self.separate_cost.per_hour)


@dataclass(frozen=True, kw_only=True)
class EndpointCost:
    """One endpoint's instances and their price.

    Attributes:
        environment: The name of the environment that it is in.
        owner: The team.
        min_instances: Fewest instances, those of schedules among them.
        max_instances: Most instances, those of schedules among them.
        has_schedules: Schedules change the range.
        archives: How many a multi-model endpoint has by its spec; None in other modes.
        routes: How many a shared container has by its spec; None in other modes, and where they are left out.
        price: None where it is unknown.
    """

    endpoint: str
    environment: str
    owner: str | None
    instance_type: str
    min_instances: int
    max_instances: int
    has_schedules: bool
    archives: int | None
    routes: int | None
    price: Price | None

    @property
    def machines(self) -> tuple[str, int, int]:
        """The instance type, and how many instances there are at the fewest and at the most."""
        return self.instance_type, self.min_instances, self.max_instances

    @property
    def certain(self) -> bool:
        """Whether somebody states the price for the region."""
        return self.price is not None and self.price.certain

    @property
    def is_computed(self) -> bool:
        """Whether amounts have a computed price in them: no source states it for the region."""
        return self.price is not None and not self.price.certain

    @property
    def min_cost(self) -> Cost | None:
        """Of the fewest instances."""
        return self._cost(self.min_instances)

    @property
    def max_cost(self) -> Cost | None:
        """Of the most instances."""
        return self._cost(self.max_instances)

    @property
    def separate_count(self) -> int | None:
        """How many endpoints would take its place, one for each archive or route; None: that is unknown."""
        return self.archives or self.routes

    @property
    def saving(self) -> Saving | None:
        """None where there are not several archives or routes, or no price."""
        own_cost, endpoints = self.min_cost, self.separate_count
        if endpoints is None or endpoints < 2 or own_cost is None:
            return None
        separate_cost = self._cost(endpoints)
        return Saving(separate_cost=separate_cost, own_cost=own_cost) if separate_cost is not None else None

    def _cost(self, instances: int) -> Cost | None:
        if not instances:
            return Cost(per_hour=Decimal(0))
        return None if self.price is None else Cost(per_hour=instances * self.price.per_hour)


@dataclass(frozen=True, kw_only=True)
class EndpointCosts:
    """Several endpoints and their sums."""

    endpoints: tuple[EndpointCost, ...]

    @property
    def unpriced_endpoints(self) -> tuple[EndpointCost, ...]:
        """Those that are not in the totals, as their price is unknown."""
        return tuple(endpoint for endpoint in self.endpoints if endpoint.price is None)

    @property
    def min_cost(self) -> Cost | None:
        """Of all fewest instances; None where none has a price."""
        return sum_of(endpoint.min_cost for endpoint in self.endpoints)

    @property
    def max_cost(self) -> Cost | None:
        """Of all most instances; None where none has a price."""
        return sum_of(endpoint.max_cost for endpoint in self.endpoints)


@dataclass(frozen=True, kw_only=True)
class FleetCost(EndpointCosts):
    """The endpoints of one environment; `dashboards` is how many they have, which are not in the totals."""

    environment: Environment
    prices: PriceBook
    dashboards: int

    @property
    def dashboards_per_month(self) -> Decimal | None:
        """Money for all dashboards; None if it is unknown."""
        return self.prices.dashboards(self.dashboards)


def fleet_cost(environment: Environment, specs: Iterable[EndpointSpec], prices: PriceBook) -> FleetCost:
    """The costs of specs as they hold in an environment; neither locks nor rules are asked."""
    endpoints = tuple(_endpoint_cost(environment, spec, prices) for spec in specs)
    dashboards = len(endpoints) if environment.dashboards else 0
    return FleetCost(environment=environment, prices=prices, endpoints=endpoints, dashboards=dashboards)


def with_unknown(text: str | None, unknown: int) -> str:
    """A sum in words, with the number of its parts that are unknown: `1,760.40, and 2 unknown`."""
    if text is None:
        return "unknown" if unknown else "0.00"
    return f"{text}, and {unknown} unknown" if unknown else text


def _endpoint_cost(environment: Environment, spec: EndpointSpec, prices: PriceBook) -> EndpointCost:
    return EndpointCost(
        endpoint=spec.endpoint,
        environment=environment.environment,
        owner=spec.owner.team if spec.owner else None,
        instance_type=spec.instance.type,
        min_instances=least_instances(spec),
        max_instances=most_instances(spec)[0],
        has_schedules=spec.scaling is not None and bool(spec.scaling.schedules),
        archives=len(spec.packed_archives) if spec.mode is Mode.MULTI_MODEL else None,
        routes=len(spec.routes) or None,
        price=prices.price(spec.instance.type, environment.region),
    )


def sum_of(costs: Iterable[Cost | None]) -> Cost | None:
    """The sum of the costs that are known; None where none is."""
    hourly_costs = [cost.per_hour for cost in costs if cost is not None]
    return Cost(per_hour=sum(hourly_costs, Decimal(0))) if hourly_costs else None


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
