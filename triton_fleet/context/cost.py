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

    hourly: Decimal

    @property
    def monthly(self) -> Decimal:
        """For 720 hours."""
        return _cents(self.hourly * MONTH)

    @property
    def yearly(self) -> Decimal:
        """For 8,760 hours."""
        return _cents(self.hourly * YEAR)


@dataclass(frozen=True, kw_only=True)
class Saving:
    """The costs that an endpoint's fewest instances save over one of the same type for each archive or route.

    Below zero where there are fewer of those than instances.
    """

    apart: Cost
    together: Cost

    @property
    def cost(self) -> Cost:
        """The difference."""
        return Cost(hourly=self.apart.hourly - self.together.hourly)

    @property
    def hours(self) -> Decimal:
        """How long a day the separate endpoints could run for the same money, all of them as long."""
        return (24 * self.together.hourly / self.apart.hourly).quantize(Decimal("0.1"), ROUND_HALF_UP)

    @property
    def percent(self) -> Decimal:
        """The share of the separate costs, with two decimals: one of 10,000 archives is 0.01 %."""
        return _cents(100 * self.cost.hourly / self.apart.hourly)


@dataclass(frozen=True, kw_only=True)
class EndpointCost:
    """One endpoint's instances and their price.

    Attributes:
        environment: The name of the environment that it is in.
        owner: The team.
        least: Fewest instances, those of schedules among them.
        most: Most instances, those of schedules among them.
        scheduled: Schedules change the range.
        archives: How many a multi-model endpoint has by its spec; None in other modes.
        routes: How many a shared container has by its spec; None in other modes, and where they are left out.
        price: None where it is unknown.
    """

    endpoint: str
    environment: str
    owner: str | None
    instance_type: str
    least: int
    most: int
    scheduled: bool
    archives: int | None
    routes: int | None
    price: Price | None

    @property
    def machines(self) -> tuple[str, int, int]:
        """The instance type, and how many instances there are at the fewest and at the most."""
        return self.instance_type, self.least, self.most

    @property
    def certain(self) -> bool:
        """Whether somebody states the price for the region."""
        return self.price is not None and self.price.certain

    @property
    def is_computed(self) -> bool:
        """Whether amounts have a computed price in them: no source states it for the region."""
        return self.price is not None and not self.price.certain

    @property
    def at_least(self) -> Cost | None:
        """Of the fewest instances."""
        return self._cost(self.least)

    @property
    def at_most(self) -> Cost | None:
        """Of the most instances."""
        return self._cost(self.most)

    @property
    def apart(self) -> int | None:
        """How many endpoints would take its place, one for each archive or route; None: that is unknown."""
        return self.archives or self.routes

    @property
    def saving(self) -> Saving | None:
        """None where there are not several archives or routes, or no price."""
        together, endpoints = self.at_least, self.apart
        if endpoints is None or endpoints < 2 or together is None:
            return None
        apart = self._cost(endpoints)
        return Saving(apart=apart, together=together) if apart is not None else None

    def _cost(self, instances: int) -> Cost | None:
        if not instances:
            return Cost(hourly=Decimal(0))
        return None if self.price is None else Cost(hourly=instances * self.price.hourly)


@dataclass(frozen=True, kw_only=True)
class EndpointCosts:
    """Several endpoints and their sums."""

    endpoints: tuple[EndpointCost, ...]

    @property
    def unpriced(self) -> tuple[EndpointCost, ...]:
        """Those that are not in the totals, as their price is unknown."""
        return tuple(endpoint for endpoint in self.endpoints if endpoint.price is None)

    @property
    def at_least(self) -> Cost | None:
        """Of all fewest instances; None where none has a price."""
        return sum_of(endpoint.at_least for endpoint in self.endpoints)

    @property
    def at_most(self) -> Cost | None:
        """Of all most instances; None where none has a price."""
        return sum_of(endpoint.at_most for endpoint in self.endpoints)


@dataclass(frozen=True, kw_only=True)
class FleetCost(EndpointCosts):
    """The endpoints of one environment; `dashboards` is how many they have, which are not in the totals."""

    environment: Environment
    prices: PriceBook
    dashboards: int

    @property
    def dashboards_monthly(self) -> Decimal | None:
        """Money for all dashboards; None if it is unknown."""
        return self.prices.dashboards(self.dashboards)


def fleet_cost(environment: Environment, specs: Iterable[EndpointSpec], prices: PriceBook) -> FleetCost:
    """The costs of specs as they hold in an environment; neither locks nor rules are asked."""
    endpoints = tuple(_endpoint_cost(environment, spec, prices) for spec in specs)
    dashboards = len(endpoints) if environment.dashboards else 0
    return FleetCost(environment=environment, prices=prices, endpoints=endpoints, dashboards=dashboards)


def with_unknown(known: str | None, unknown: int) -> str:
    """A sum in words, with the number of its parts that are unknown: `1,760.40, and 2 unknown`."""
    if known is None:
        return "unknown" if unknown else "0.00"
    return f"{known}, and {unknown} unknown" if unknown else known


def _endpoint_cost(environment: Environment, spec: EndpointSpec, prices: PriceBook) -> EndpointCost:
    return EndpointCost(
        endpoint=spec.endpoint,
        environment=environment.environment,
        owner=spec.owner.team if spec.owner else None,
        instance_type=spec.instance.type,
        least=least_instances(spec),
        most=most_instances(spec)[0],
        scheduled=spec.scaling is not None and bool(spec.scaling.schedules),
        archives=len(spec.packed) if spec.mode is Mode.MULTI_MODEL else None,
        routes=len(spec.routes) or None,
        price=prices.price(spec.instance.type, environment.region),
    )


def sum_of(costs: Iterable[Cost | None]) -> Cost | None:
    """The sum of the costs that are known; None where none is."""
    hourly_costs = [cost.hourly for cost in costs if cost is not None]
    return Cost(hourly=sum(hourly_costs, Decimal(0))) if hourly_costs else None


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
