"""List prices, for plans and comparisons; not what an account pays."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.instances import Processor, instance

STATED_PRICES, EC2, FACTORS = "prices.yaml", "ec2_prices.json", "other_prices.yaml"
"""Prices that public sources state, EC2's prices, and what hosting's are computed by from them."""
CURRENCY = "USD"
COMPUTED_SOURCE = "computed from EC2's price of the same size and region"
COMPUTED_SIGN = "~"
"""Before each amount with a computed price in it."""
LEGEND = f"{COMPUTED_SIGN}: {COMPUTED_SOURCE}"


@dataclass(frozen=True, kw_only=True)
class Price:
    """The price of one instance for one hour.

    Attributes:
        per_hour: In the catalog US dollars; in a fleet's prices, the fleet's currency.
        origin: Who states it, or how it is computed.
        certain: Somebody states it for the region.
    """

    per_hour: Decimal
    origin: str
    certain: bool

    @property
    def sign(self) -> str:
        """Before the price, and before each amount with it."""
        return price_sign(certain=self.certain)


@dataclass(frozen=True, kw_only=True)
class PriceList:
    """Where prices come from, and the day on which the sources were last compared as YYYY-MM-DD.

    Attributes:
        stated: The sources of stated prices.
        computed: The formula of the others, and its sources.
        dashboards: The source of a dashboard's price.
    """

    date: str
    stated: str
    computed: str
    dashboards: str


@cache
def hosting_price(instance_type: str, region: str) -> Price | None:
    """The price of an instance type in a region, in US dollars; None if the catalog has none."""
    price_text = data_file(STATED_PRICES)["stated"].get(region, {}).get(instance_type)
    if price_text is not None:
        return Price(per_hour=_parse_decimal(price_text), origin="a public source states it", certain=True)
    return computed_price(instance_type, region)


def computed_price(instance_type: str, region: str) -> Price | None:
    """EC2's price times the factor of its kind, to four decimals as AWS's; None where EC2's is unknown."""
    family, _, size = instance_type.removeprefix("ml.").partition(".")
    ec2 = data_file(EC2)["regions"].get(region, {}).get(family, {}).get(size)
    if ec2 is None:
        return None
    factors, letter = data_file(FACTORS)["factors"], family[0]
    is_cpu = instance(instance_type).kind is Processor.CPU
    factor = factors["cpu"] if is_cpu else factors.get(f"{letter}.{size}", factors[letter])
    per_hour = (_parse_decimal(ec2) * _parse_decimal(factor)).quantize(Decimal("0.0001"))
    return Price(per_hour=per_hour, origin=COMPUTED_SOURCE, certain=False)


def price_sign(*, certain: bool) -> str:
    """`~` before an amount with a computed price in it; "" where all prices are stated."""
    return "" if certain else COMPUTED_SIGN


def computed_formula() -> str:
    """The formula of computed prices, with the factors."""
    factors = data_file(FACTORS)["factors"].items()
    return f"{COMPUTED_SOURCE} times {', '.join(f'{factor} ({name})' for name, factor in factors)}"


def price_list() -> PriceList:
    """Sources of the catalog's prices."""
    stated, ec2, factors = (data_file(file) for file in (STATED_PRICES, EC2, FACTORS))
    return PriceList(
        date=stated["date"].isoformat(),
        stated=stated["source"],
        computed=f"{computed_formula()}; {ec2['source']}",
        dashboards=factors["source"],
    )


def dashboard_price() -> Decimal:
    """US dollars a month for one CloudWatch dashboard; an account may have its first ones for free."""
    return _parse_decimal(data_file(FACTORS)["dashboard_a_month"])


def _parse_decimal(number: float) -> Decimal:
    # The shortest text that reads back as the number is that of the file; the number itself is a little off.
    return Decimal(str(number))
