"""Prices of hosting instances, from a price list of AWS's that somebody saved."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from catalog_refresh.instance_types import INSTANCES, family_sizes, type_names
from catalog_refresh.package import AbsentSourceError
from catalog_refresh.proposal import Facts, Proposal, Remark, read_facts

FILE = "prices.yaml"
SERVICE = "AmazonSageMaker"


def prices(file: Path, folder: Path) -> Proposal:
    """The prices of one hour on demand in the list's region; what the list lacks keeps its price.

    Raises:
        AbsentSourceError: The file is not SageMaker's price list, or has no hosting prices of one region.
    """
    present, types = read_facts(folder, FILE)["stated"], type_names(family_sizes(folder))
    document = _document(file)
    list_prices, remarks = defaultdict[str, set[Decimal]](set), list[Remark]()
    regions = set[str]()
    for region, name, price in _hosting_prices(document):
        list_prices[name].add(price)
        regions.add(region)
    if len(regions) != 1:
        raise AbsentSourceError(f"{file} has hosting prices of {len(regions)} regions, and not of one")
    (region,) = regions
    origin = f"AWS price list {SERVICE} {document.get('version', 'without a version')}"
    new_prices, before = dict[str, float](), present.get(region, {})
    for name in [*types, *sorted({*before, *list_prices} - {*types})]:
        type_prices = list_prices.get(name, set())
        if len(type_prices) == 1 and name in types:
            new_prices[name] = float(*type_prices)
            continue
        if name in before:
            new_prices[name] = before[name]
        elif not type_prices:
            continue
        remarks += _price_remarks(name, type_prices, before.get(name), origin)
    content = {"stated": {**present, region: new_prices}}
    return Proposal(
        file=FILE,
        origin=origin,
        scope=f"on demand, hosting, {region}",
        day=_day(document, file),
        content=content,
        facts=_facts,
        remarks=tuple(remarks),
    )


def _facts(content: Mapping[str, Any]) -> Facts:
    facts = defaultdict[str, dict[str, str]](dict)
    for region, prices in content["stated"].items():
        for name, price in prices.items():
            facts[name][region] = f"{price} USD"
    return facts


def _document(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise AbsentSourceError(f"{file} is not readable as JSON: {error}") from error
    if not isinstance(document, dict) or document.get("offerCode") != SERVICE:
        raise AbsentSourceError(f"{file} is not the price list of {SERVICE}: `offerCode` does not name it")
    if not all(isinstance(document.get(key), dict) for key in ("products", "terms")):
        raise AbsentSourceError(f"{file} has no `products` or no `terms`")
    return document


def _hosting_prices(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Decimal]]:
    """Regions and instance types with the price of each term on demand; free tiers are left out."""
    terms = document["terms"].get("OnDemand", {})
    for sku, product in document["products"].items():
        about = product.get("attributes", {})
        if about.get("component") != "Hosting":
            continue
        for term in terms.get(sku, {}).values():
            for dimension in term.get("priceDimensions", {}).values():
                price = _dollars(dimension)
                if price:
                    yield about.get("regionCode", ""), about.get("instanceName", ""), price


def _dollars(dimension: Mapping[str, Any]) -> Decimal | None:
    if dimension.get("unit") not in ("Hrs", "Hours"):
        return None
    try:
        return Decimal(dimension.get("pricePerUnit", {}).get("USD", "0"))
    except InvalidOperation:
        return None


def _price_remarks(
    name: str, list_prices: set[Decimal], present: float | None, origin: str
) -> Iterator[Remark]:
    """Why a type's price is not that of the list."""
    stays = f"stays {present} USD" if present is not None else "has no price"
    if len(list_prices) > 1:
        prices = ", ".join(f"{price.normalize():f}" for price in sorted(list_prices))
        yield Remark(file=FILE, text=f"{name} {stays}: {origin} has several prices, {prices} USD")
    elif not list_prices:
        yield Remark(file=FILE, text=f"{name} {stays}: {origin} does not have it")
    elif name.startswith("ml."):
        yield Remark(file=INSTANCES, text=f"{name} has a price in {origin}: add the type, then refresh again")


def _day(document: Mapping[str, Any], file: Path) -> date:
    try:
        return datetime.fromisoformat(str(document.get("publicationDate"))).date()
    except ValueError as error:
        raise AbsentSourceError(f"{file} has no `publicationDate`") from error
