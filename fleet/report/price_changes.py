"""What a change does to the prices of a fleet: one sentence, as no endpoint differs by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.spec.prices import PRICES, PriceBook

MAX_PRICES = 3
"""So many prices are named, the first by region and type."""


def price_changes(before: PriceBook, after: PriceBook) -> Iterator[str]:
    """A note where prices.yaml differs: all costs of a report are at the new prices, also those before."""
    if before == after:
        return
    if after.findings:
        yield f"`{PRICES}` cannot be read, so every cost is unknown: {after.findings[0].message}"
        return
    parts = [f"currency {before.currency} → {after.currency}"] * (before.currency != after.currency)
    old, new = _prices(before), _prices(after)
    changed = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    parts += [
        f"{key} {old.get(key, 'not given')} → {new.get(key, 'not given')}" for key in changed[:MAX_PRICES]
    ]
    parts += [f"{len(changed) - MAX_PRICES} more"] * (len(changed) > MAX_PRICES)
    yield f"`{PRICES}` differs ({', '.join(parts) or 'its date'}): all costs here are at the new prices"


def _prices(book: PriceBook) -> Mapping[str, str]:
    """What the file states, by what it is about."""
    if book.own is None:
        return {}
    shared = {"discount": book.own.discount, "usd_rate": book.own.usd_rate}
    prices = {
        f"{name} in {region}": price
        for region, types in book.own.prices.items()
        for name, price in types.items()
    }
    return {key: f"{value:.15g}" for key, value in {**shared, **prices}.items() if value is not None}
