"""Prices of hosting instances, from a price list of AWS's that somebody saved."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from catalog_refresh.instance_types import CLASSIFIED, classified, type_names
from catalog_refresh.package import AbsentSourceError
from catalog_refresh.proposal import Facts, Proposal, Remark, read_facts

FILE, COMPUTED = "prices.yaml", "other_prices.yaml"
SERVICE = "AmazonSageMaker"


def prices(saved: Path, folder: Path) -> Proposal:
    """The prices of one hour on demand in the catalog's region; what the list lacks keeps its price.

    Raises:
        AbsentSourceError: The file is not SageMaker's price list, or has no hosting prices of the region.
    """
    held, known = read_facts(folder, FILE), type_names(classified(folder))
    document, region = _document(saved), held["region"]
    listed, remarks = defaultdict[str, set[Decimal]](set), list[Remark]()
    for name, price in _hosting_prices(document, region):
        listed[name].add(price)
    if not listed:
        raise AbsentSourceError(f"{saved} has no hosting prices of {region}")
    origin = f"AWS price list {SERVICE} {document.get('version', 'without a version')}"
    stated = dict[str, float]()
    for name in [*known, *sorted({*held["stated"], *listed} - {*known})]:
        found = listed.get(name, set())
        if len(found) == 1 and name in known:
            stated[name] = float(*found)
            continue
        if name in held["stated"]:
            stated[name] = held["stated"][name]
        elif not found:
            continue
        remarks += _unsettled(name, found, held["stated"].get(name), origin)
    computed = read_facts(folder, COMPUTED)["computed"]
    for name in sorted(stated.keys() & computed):
        text = f"{name} is computed as {computed[name]}, and {origin} states {stated[name]}: delete it here"
        remarks.append(Remark(file=COMPUTED, text=text))
    content = {"region": region, "stated": stated}
    return Proposal(
        file=FILE,
        origin=origin,
        scope=f"on demand, hosting, {region}",
        day=_day(document, saved),
        content=content,
        facts=_facts,
        remarks=tuple(remarks),
    )


def _facts(content: Mapping[str, Any]) -> Facts:
    return {name: {"": f"{price} USD"} for name, price in content["stated"].items()}


def _document(saved: Path) -> dict[str, Any]:
    try:
        document = json.loads(saved.read_bytes())
    except (OSError, ValueError) as error:
        raise AbsentSourceError(f"{saved} is not readable as JSON: {error}") from error
    if not isinstance(document, dict) or document.get("offerCode") != SERVICE:
        raise AbsentSourceError(f"{saved} is not the price list of {SERVICE}: `offerCode` does not name it")
    if not all(isinstance(document.get(key), dict) for key in ("products", "terms")):
        raise AbsentSourceError(f"{saved} has no `products` or no `terms`")
    return document


def _hosting_prices(document: Mapping[str, Any], region: str) -> Iterator[tuple[str, Decimal]]:
    """Instance types with the price of each of their terms on demand; free tiers are left out."""
    terms = document["terms"].get("OnDemand", {})
    for sku, product in document["products"].items():
        about = product.get("attributes", {})
        if (about.get("component"), about.get("regionCode")) != ("Hosting", region):
            continue
        for term in terms.get(sku, {}).values():
            for dimension in term.get("priceDimensions", {}).values():
                price = _dollars(dimension)
                if price:
                    yield about.get("instanceName", ""), price


def _dollars(dimension: Mapping[str, Any]) -> Decimal | None:
    if dimension.get("unit") not in ("Hrs", "Hours"):
        return None
    try:
        return Decimal(dimension.get("pricePerUnit", {}).get("USD", "0"))
    except InvalidOperation:
        return None


def _unsettled(name: str, found: set[Decimal], held: float | None, origin: str) -> Iterator[Remark]:
    """Why a type's price is not that of the list."""
    stays = f"stays {held} USD" if held is not None else "has no price"
    if len(found) > 1:
        prices = ", ".join(f"{price.normalize():f}" for price in sorted(found))
        yield Remark(file=FILE, text=f"{name} {stays}: {origin} has several prices, {prices} USD")
    elif not found:
        yield Remark(file=FILE, text=f"{name} {stays}: {origin} does not have it")
    elif name.startswith("ml."):
        yield Remark(
            file=CLASSIFIED, text=f"{name} has a price in {origin}: add the type, then refresh again"
        )


def _day(document: Mapping[str, Any], saved: Path) -> date:
    try:
        return datetime.fromisoformat(str(document.get("publicationDate"))).date()
    except ValueError as error:
        raise AbsentSourceError(f"{saved} has no `publicationDate`") from error
