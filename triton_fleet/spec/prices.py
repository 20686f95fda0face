"""Prices of a fleet: its own `prices.yaml` over the catalog's list prices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.instances import instance_types
from triton_fleet.catalog.prices import CURRENCY, Price, dashboard_price, hosting_price, price_list
from triton_fleet.findings import Finding
from triton_fleet.spec.policy import Day
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.values import Document, Mistake, Share

PRICES = "prices.yaml"
"""At the top of a fleet."""
PRICES_SCHEMA = "prices.schema.json"
"""Beside it, for editors."""
CENT, SMALLEST = Decimal("0.01"), Decimal("0.0001")
"""A month's amounts are rounded to the one; no converted price per hour is below the other: none is free."""


def _known_region(name: str) -> str:
    regions = list(data_file("availability.yaml")["regions"])
    if name not in regions:
        raise Mistake("SageMaker hosts no endpoints in such a region", did_you_mean(name, regions))
    return name


def _known_type(name: str) -> str:
    if name not in instance_types():
        raise Mistake("SageMaker hosting has no such instance type", did_you_mean(name, instance_types()))
    return name


RegionName = Annotated[str, AfterValidator(_known_region)]
TypeName = Annotated[str, AfterValidator(_known_type)]


def _discount(share: float) -> float:
    if share >= 100:
        raise Mistake("it makes instances free", "write a share below `100%`")
    return share


HourlyPrice = Annotated[float, Field(gt=0, le=1e9)]


class FleetPrices(Document):
    """Prices that a fleet pays for instances, where that is not the catalog's list price."""

    date: Day
    """Day on which the prices were agreed or last verified. Reports name it."""
    currency: Annotated[str, StringConstraints(pattern="^[A-Z]{3}$")] = CURRENCY
    """Three letters: of the prices below, of every report, and of `monthly_cost` in policies."""
    usd_rate: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """Price of one US dollar in `currency`: converts the catalog's prices. Default: with another `currency`
    than USD, prices that are not below are unknown."""
    discount: Annotated[Share, AfterValidator(_discount)] | None = None
    """Discount on the catalog's prices: below 100%, such as `12%`. It does not apply to the prices below."""
    prices: dict[RegionName, dict[TypeName, HourlyPrice]] = Field(default_factory=dict)
    """Price of one instance for an hour, by region and by instance type. Default: the catalog's."""

    @model_validator(mode="after")
    def _has_a_use(self) -> Self:
        if self.currency == CURRENCY and self.usd_rate is not None:
            raise Mistake(f"`usd_rate` converts US dollars, and `currency` is {CURRENCY}", "leave it out")
        if not (self.prices or self.discount or self.usd_rate):
            raise Mistake("it states no price", "write `prices`, `discount` or `usd_rate`")
        return self


@dataclass(frozen=True)
class PriceBook:
    """The prices of a fleet, in one currency: no sum mixes two.

    Attributes:
        own: The fleet's file; None where it has none, or one that cannot be read.
        findings: Why it cannot be read: then every price is unknown.
    """

    own: FleetPrices | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def currency(self) -> str:
        """Three letters."""
        return self.own.currency if self.own else CURRENCY

    def price(self, instance_type: str, region: str) -> Price | None:
        """The price of one instance for an hour, in the currency; None if it is unknown."""
        if self.own and self.states(instance_type, region):
            own_price = _exact(self.own.prices[region][instance_type])
            return Price(per_hour=own_price, origin=f"{PRICES} of {self.own.date} states it", certain=True)
        hosting, factor = hosting_price(instance_type, region), self._factor
        if hosting is None or factor is None:
            return None
        if factor == 1:
            return hosting
        per_hour = (hosting.per_hour * factor).quantize(SMALLEST, ROUND_HALF_UP)
        return replace(hosting, per_hour=max(per_hour, SMALLEST), origin=f"{hosting.origin}{self._changes}")

    def states(self, instance_type: str, region: str) -> bool:
        """Whether the fleet's own file has the price."""
        return self.own is not None and instance_type in self.own.prices.get(region, {})

    def dashboards(self, count: int) -> Decimal | None:
        """A month of dashboards, in the currency; None if it is unknown."""
        rate = self._rate
        return None if rate is None else (count * dashboard_price() * rate).quantize(CENT, ROUND_HALF_UP)

    def absence(self, instance_type: str, region: str) -> tuple[str, str]:
        """Why a price is unknown, and what to write."""
        if self.findings:
            return f"{PRICES} cannot be read", "correct it: `fleet check` lists what is wrong"
        if instance_type not in instance_types():
            return f"the catalog does not have {instance_type}", "write an instance type that it has"
        if self.own and self._factor is None and hosting_price(instance_type, region):
            problem = f"the catalog has the price of {instance_type} in {region} in {CURRENCY} only"
            return problem, f"write `usd_rate`, the {self.currency} for one dollar, into {PRICES}"
        line = f"`prices: {{{region}: {{{instance_type}: PRICE}}}}`"
        example = line if self.own else f"with a `date` and {line}"
        sources = "neither the catalog nor prices.yaml has a" if self.own else "the catalog has no"
        remedy = f"write its price per hour into {PRICES} at the top of the fleet, {example}"
        return f"{sources} price of {instance_type} in {region}", remedy

    @property
    def words(self) -> str:
        """Where prices come from, in one phrase."""
        catalog = f"on-demand list prices of {price_list().date}"
        if self.own is None:
            return catalog
        more = f"{catalog}{self._changes}" if self._factor is not None else "no others"
        return f"{PRICES} of {self.own.date.isoformat()}, else {more}"

    @property
    def _rate(self) -> Decimal | None:
        if self.findings:
            return None
        if self.own is None or self.own.currency == CURRENCY:
            return Decimal(1)
        return None if self.own.usd_rate is None else _exact(self.own.usd_rate)

    @property
    def _factor(self) -> Decimal | None:
        """By what the catalog's prices are multiplied."""
        discount = _exact(self.own.discount) if self.own and self.own.discount else Decimal(0)
        return None if self._rate is None else self._rate * (100 - discount) / 100

    @property
    def _changes(self) -> str:
        """Changes of the catalog's prices: ", less 12 %, at 0.92 EUR a dollar"."""
        if self.own is None:
            return ""
        discount = f", less {self.own.discount:.15g} %" if self.own.discount else ""
        rate = f", at {self.own.usd_rate:.15g} {self.currency} a dollar" if self.own.usd_rate else ""
        return discount + rate


def _exact(number: float) -> Decimal:
    """The number as a file has it."""
    return Decimal(str(number))
