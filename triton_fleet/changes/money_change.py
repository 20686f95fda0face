"""Differences of costs and prices in words that hide neither end of the range, nor what is unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from triton_fleet.catalog.prices import price_sign
from triton_fleet.context.cost import Cost, sum_of, with_unknown
from triton_fleet.spec.prices import PRICES, PriceBook

FREE = Cost(per_hour=Decimal(0))
MAX_PRICES = 3
"""Changed prices that are named, the first by region and type."""


@dataclass(frozen=True, kw_only=True)
class CostChange:
    """Costs before and after; None where the price is unknown, zero where nothing runs.

    With `same`, the same instances run, whatever they cost.
    """

    before: Cost | None
    after: Cost | None
    same: bool = False

    @property
    def difference(self) -> Cost | None:
        """After less before; None if it is unknown."""
        if self.same:
            return FREE
        if self.before is None or self.after is None:
            return None
        return Cost(per_hour=self.after.per_hour - self.before.per_hour)

    @property
    def percent(self) -> int | None:
        """The difference in percent of before; None where there was nothing, or a price is unknown."""
        if self.difference is None or self.before is None or not self.before.per_hour:
            return None
        return int(
            (100 * self.difference.per_hour / self.before.per_hour).quantize(Decimal(1), ROUND_HALF_UP)
        )


@dataclass(frozen=True, kw_only=True)
class MoneyChange:
    """The sums of the differences that are known, at the fewest and at the most instances.

    Attributes:
        min_cost: None where none is known.
        max_cost: Likewise.
        unknown: How many endpoints are in neither.
    """

    min_cost: Cost | None
    max_cost: Cost | None
    unknown: int

    @property
    def differs(self) -> bool:
        """Whether there is anything but equal costs."""
        return bool(self.unknown) or any(
            cost is not None and cost.per_hour for cost in (self.min_cost, self.max_cost)
        )

    def words(self, currency: str, *, certain: bool) -> str:
        """One phrase, such as `−120.00 USD a month at min, +8,114.00 at max, and 1 unknown`."""
        if self.min_cost is None or self.max_cost is None:
            return "cost unknown" if self.unknown else "the same cost"
        min_cost, max_cost, sign = (
            self.min_cost.per_month,
            self.max_cost.per_month,
            price_sign(certain=certain),
        )
        if min_cost == max_cost:
            text = f"{sign}{signed_cost(self.max_cost)} {currency} a month" if max_cost else "the same cost"
        elif not min_cost:
            text = f"the same cost at min, {sign}{signed_cost(self.max_cost)} {currency} a month at max"
        else:
            maximum = f"{sign}{signed_cost(self.max_cost)}" if max_cost else "the same"
            text = f"{sign}{signed_cost(self.min_cost)} {currency} a month at min, {maximum} at max"
        return with_unknown(text, self.unknown)


def money_change(differences: Sequence[tuple[Cost | None, Cost | None]]) -> MoneyChange:
    """The sums of the differences of endpoints, at min and at max; None for those that are unknown."""
    pairs = [
        (min_cost, max_cost)
        for min_cost, max_cost in differences
        if min_cost is not None and max_cost is not None
    ]
    return MoneyChange(
        min_cost=sum_of(min_cost for min_cost, _ in pairs),
        max_cost=sum_of(max_cost for _, max_cost in pairs),
        unknown=len(differences) - len(pairs),
    )


def signed_cost(cost: Cost) -> str:
    """A month's difference with its sign, as in `−405.07`."""
    return f"{'−' if cost.per_month < 0 else '+'}{abs(cost.per_month):,}"


def price_changes(before: PriceBook, after: PriceBook) -> str:
    """A note where prices.yaml differs: all costs of a report are at the new prices, also those before."""
    if before == after:
        return ""
    if after.findings:
        return f"`{PRICES}` cannot be read, so every cost is unknown: {after.findings[0].message}"
    parts = [f"currency {before.currency} → {after.currency}"] * (before.currency != after.currency)
    old, new = _prices(before), _prices(after)
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    parts += [f"{key} {old.get(key, 'not given')} → {new.get(key, 'not given')}" for key in keys[:MAX_PRICES]]
    parts += [f"{len(keys) - MAX_PRICES} more"] * (len(keys) > MAX_PRICES)
    return f"`{PRICES}` differs ({', '.join(parts) or 'its date'}): all costs here are at the new prices"


def _prices(book: PriceBook) -> Mapping[str, str]:
    """The numbers of the file by what they are about."""
    if book.own is None:
        return {}
    factors = {"discount": book.own.discount, "usd_rate": book.own.usd_rate}
    prices = {
        f"{name} in {region}": price
        for region, types in book.own.prices.items()
        for name, price in types.items()
    }
    return {key: f"{value:.15g}" for key, value in {**factors, **prices}.items() if value is not None}
