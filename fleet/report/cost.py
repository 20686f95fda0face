"""What endpoints cost in list prices: their instances, at the fewest and at the most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from fleet.catalog.prices import Price, dashboard_price, hosting_price, price_list
from fleet.endpoint.context.capacity import least_instances, most_instances
from fleet.spec.endpoint import EndpointSpec, Mode
from fleet.spec.environment import Environment

MONTH, YEAR = 24 * 30, 24 * 365
"""Hours. Source of a month: AWS's post "Serve multiple models with Amazon SageMaker and Triton Inference
Server", 0.94 * 24 * 30 = 676.8 USD."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """US dollars an hour, exact; a month's and a year's to the cent."""

    hourly: Decimal

    @property
    def monthly(self) -> Decimal:
        """For 720 hours."""
        return _cents(self.hourly * MONTH)

    @property
    def yearly(self) -> Decimal:
        """For 8,760 hours."""
        return _cents(self.hourly * YEAR)


def signed(cost: Cost) -> str:
    """A month's difference with its sign, as in `−405.07`."""
    return f"{'−' if cost.monthly < 0 else '+'}{abs(cost.monthly):,}"


@dataclass(frozen=True, kw_only=True)
class Saving:
    """What an endpoint's fewest instances cost less than one of the same type for each archive or route.

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
        price: None where the catalog has none.
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
        return None if self.price is None else Cost(hourly=instances * self.price.usd_per_hour)


@dataclass(frozen=True, kw_only=True)
class EndpointCosts:
    """Several endpoints and their sums."""

    endpoints: tuple[EndpointCost, ...]

    @property
    def unpriced(self) -> tuple[EndpointCost, ...]:
        """What no sum has in it, as the catalog has no price."""
        return tuple(each for each in self.endpoints if each.price is None)

    @property
    def at_least(self) -> Cost | None:
        """Of all fewest instances; None where none has a price."""
        return _sum(each.at_least for each in self.endpoints)

    @property
    def at_most(self) -> Cost | None:
        """Of all most instances; None where none has a price."""
        return _sum(each.at_most for each in self.endpoints)


@dataclass(frozen=True, kw_only=True)
class FleetCost(EndpointCosts):
    """The endpoints of one environment; `dashboards` is how many they have, which no sum has in it."""

    environment: Environment
    dashboards: int

    @property
    def elsewhere(self) -> bool:
        """Whether the catalog has prices of another region only."""
        return self.environment.region != price_list().region

    @property
    def dashboards_monthly(self) -> Decimal:
        """US dollars for all dashboards."""
        return _cents(self.dashboards * dashboard_price())

    def certain(self, endpoint: EndpointCost) -> bool:
        """Whether a source states the price for this region."""
        return endpoint.price is not None and endpoint.price.stated and not self.elsewhere


def fleet_cost(environment: Environment, specs: Iterable[EndpointSpec]) -> FleetCost:
    """What specs, as they hold in an environment, cost there; neither locks nor rules are asked."""
    endpoints = tuple(_endpoint_cost(environment.environment, each) for each in specs)
    dashboards = len(endpoints) if environment.dashboards else 0
    return FleetCost(environment=environment, endpoints=endpoints, dashboards=dashboards)


def _endpoint_cost(environment: str, spec: EndpointSpec) -> EndpointCost:
    return EndpointCost(
        endpoint=spec.endpoint,
        environment=environment,
        owner=spec.owner.team if spec.owner else None,
        instance_type=spec.instance.type,
        least=least_instances(spec),
        most=most_instances(spec)[0],
        scheduled=spec.scaling is not None and bool(spec.scaling.schedules),
        archives=len(spec.packed) if spec.mode is Mode.MULTI_MODEL else None,
        routes=len(spec.routes) or None,
        price=hosting_price(spec.instance.type),
    )


def _sum(costs: Iterable[Cost | None]) -> Cost | None:
    hourly = [cost.hourly for cost in costs if cost is not None]
    return Cost(hourly=sum(hourly, Decimal(0))) if hourly else None


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)
