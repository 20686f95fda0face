"""List prices, for plans and comparisons; not what an account pays."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from fleet.catalog.data_file import data_file

STATED, OTHER = "prices.yaml", "other_prices.yaml"
"""The file of prices that a public source states, and the file of all others."""


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars for one hour of one instance, in the region of the price list.

    Attributes:
        stated: A public source states it; otherwise it is computed from EC2's price of the same size.
    """

    usd_per_hour: Decimal
    stated: bool


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """Where prices come from: the one region that they are of, and the newest source's date as YYYY-MM-DD."""

    region: str
    date: str
    source: str


def hosting_price(instance_type: str) -> Price | None:
    """The price of an instance type in the price list's region; None if the catalog has none."""
    for file, key in ((STATED, "stated"), (OTHER, "computed")):
        price = data_file(file)[key].get(instance_type)
        if price is not None:
            return Price(usd_per_hour=_parse_decimal(price), stated=file == STATED)
    return None


def price_list() -> PriceList:
    """What the catalog's prices are of."""
    stated, other = data_file(STATED), data_file(OTHER)
    source = f"stated: {stated['source']}; {other['source']}"
    return PriceList(
        region=stated["region"], date=max(stated["date"], other["date"]).isoformat(), source=source
    )


def dashboard_price() -> Decimal:
    """US dollars a month for one CloudWatch dashboard; an account may have its first ones for free."""
    return _parse_decimal(data_file(OTHER)["dashboard_a_month"])


def _parse_decimal(number: float) -> Decimal:
    # The shortest text that reads back as the number is that of the file; the number itself is a little off.
    return Decimal(str(number))
