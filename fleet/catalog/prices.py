"""List prices, for plans and comparisons; not what an account pays."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalog.data_file import data_file


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars for one hour of one instance in one region.

    Attributes:
        stated: A public source states it; otherwise it is computed from EC2's price of the same size.
        date: Of the newest source, as YYYY-MM-DD.
    """

    usd_per_hour: float
    region: str
    stated: bool
    date: str


def hosting_price(instance_type: str) -> Price | None:
    """The price of an instance type in the one region that the catalog has prices of; None if it has none."""
    data = data_file("prices.yaml")
    for key in ("stated", "computed"):
        if instance_type in data[key]:
            price, stated = data[key][instance_type], key == "stated"
            return Price(
                usd_per_hour=price, region=data["region"], stated=stated, date=data["date"].isoformat()
            )
    return None


def dashboard_price() -> float:
    """US dollars a month for one CloudWatch dashboard; an account may have its first ones for free."""
    return float(data_file("prices.yaml")["dashboard_a_month"])
