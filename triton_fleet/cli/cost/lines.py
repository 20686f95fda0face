"""How costs are printed: a table and notes about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from triton_fleet.catalog.prices import COMPUTED_SIGN, LEGEND, price_list, price_sign
from triton_fleet.cli.cost.document import CostGroup
from triton_fleet.cli.output import say
from triton_fleet.context.cost import (
    MONTH,
    YEAR,
    Cost,
    EndpointCost,
    EndpointCosts,
    FleetCost,
    Saving,
    with_unknown,
)
from triton_fleet.core.formats import count_of
from triton_fleet.printers.console import plain_table, unfolded_console

_HEADINGS = ("min", "an hour", "a month", "max", "an hour", "a month")
OTHER_COSTS = (
    "second instances while an endpoint is updated, volumes, S3, logs, metrics, alarms, captured calls,"
    " builds of engines, traffic, taxes, discounts"
)


def print_cost(fleet: FleetCost) -> None:
    """Print a table, then what the numbers mean, what they leave out, and their source."""
    console, place = unfolded_console(), fleet.environment
    title = f"{place.environment}: account {place.account}, {place.region}; {fleet.prices.currency}\n"
    console.print(Text(title, "bold"), soft_wrap=True)
    has_owners = any(endpoint.owner for endpoint in fleet.endpoints)
    console.print_widest(
        [
            _table(fleet, owners=has_owners, has_hours=True),
            _table(fleet, owners=False, has_hours=True),
            _table(fleet, owners=False, has_hours=False),
        ]
    )
    say("")
    for line in _lines(fleet):
        say(line)


def print_groups(by: str, fleets: Sequence[FleetCost], groups: Sequence[CostGroup]) -> None:
    """Print a table of the groups, the most expensive first, then what the numbers mean."""
    console, prices = unfolded_console(), fleets[0].prices
    names = ", ".join(fleet.environment.environment for fleet in fleets)
    console.print(Text(f"{names}: by {by}; {prices.currency}\n", "bold"), soft_wrap=True)
    table = plain_table(by)
    for title in ("endpoints", "min an hour", "a month", "max an hour", "a month"):
        table.add_column(title, justify="right", no_wrap=True)
    total = EndpointCosts(endpoints=tuple(endpoint for fleet in fleets for endpoint in fleet.endpoints))
    sign = max(map(_sign, total.endpoints), default="")
    for group in groups:
        table.add_row(*_row(group.name, group, sign))
    if len(groups) > 1:
        table.add_section()
        table.add_row(*_row("total", total, sign))
    console.print(table)
    say("")
    if total.unpriced_endpoints:
        names = ", ".join(
            f"{unpriced_endpoint.endpoint} ({unpriced_endpoint.environment})"
            for unpriced_endpoint in total.unpriced_endpoints
        )
        say(f"unknown; not in the totals: {names}; run without --by to see why")
    if sum(len(group.endpoints) for group in groups) > len(total.endpoints):
        say("an endpoint of several profiles is in several rows, and once in the total")
    if sign:
        say(f"{LEGEND}; run without --by to see which")
    say(f"a month is {MONTH} hours (24 x 30); {prices.words}")


def _row(name: str, costs: EndpointCosts, sign: str) -> tuple[Text | str, ...]:
    """The cells of a row, with the number of its endpoints that are not in the sums."""
    cells = *_cells(costs.min_cost, sign), *_cells(costs.max_cost, sign)
    return Text(_sum_name(name, costs), "bold"), str(len(costs.endpoints)), *cells


def _sum_name(name: str, costs: EndpointCosts) -> str:
    """The name of a row of sums."""
    return name if costs.max_cost is None else with_unknown(name, len(costs.unpriced_endpoints))


def _table(fleet: FleetCost, *, owners: bool, has_hours: bool) -> Table:
    table = plain_table("endpoint", *(["owner"] if owners else []), "instance type")
    for title in (title for title in _HEADINGS if has_hours or title != "an hour"):
        table.add_column(title, justify="right", no_wrap=True)
    for endpoint in fleet.endpoints:
        sign = _sign(endpoint)
        table.add_row(
            Text(endpoint.endpoint, "bold"),
            *([endpoint.owner or "-"] if owners else []),
            endpoint.instance_type,
            str(endpoint.min_instances),
            *_cells(endpoint.min_cost, sign, has_hours=has_hours),
            str(endpoint.max_instances),
            *_cells(endpoint.max_cost, sign, has_hours=has_hours),
        )
    if len(fleet.endpoints) > 1:
        sign = max(map(_sign, fleet.endpoints))
        lower_cells, upper_cells = (
            _cells(total, sign, has_hours=has_hours) for total in (fleet.min_cost, fleet.max_cost)
        )
        sums = ["", *lower_cells, "", *upper_cells]
        table.add_section()
        table.add_row(Text(_sum_name("total", fleet), "bold"), *([""] if owners else []), "", *sums)
    return table


def _sign(endpoint: EndpointCost) -> str:
    return price_sign(certain=not endpoint.is_computed)


def _cells(cost: Cost | None, sign: str, *, has_hours: bool = True) -> tuple[str, ...]:
    if cost is None:
        return ("unknown",) * (1 + has_hours)
    return (*([f"{sign}{cost.per_hour:,.4f}"] if has_hours else []), f"{sign}{cost.per_month:,}")


def _lines(fleet: FleetCost) -> Iterator[str]:
    prices, region = fleet.prices, fleet.environment.region
    for endpoint in fleet.endpoints:
        if endpoint.has_schedules:
            yield f"{endpoint.endpoint}: schedules change the range: min is its lowest end, max its highest"
        if endpoint.saving is not None:
            yield f"{endpoint.endpoint}: {_saving_line(endpoint, endpoint.saving, _sign(endpoint))}"
    for unpriced_endpoint in fleet.unpriced_endpoints:
        reason, remedy = prices.absence(unpriced_endpoint.instance_type, region)
        yield f"{unpriced_endpoint.endpoint}: unknown; not in the totals: {reason}; {remedy}"
    monthly_price = "unknown" if fleet.dashboards_per_month is None else fleet.dashboards_per_month
    dashboards = f"{count_of(fleet.dashboards, 'dashboard')} ({monthly_price} a month), "
    yield f"a month is {MONTH} hours (24 x 30)"
    yield f"not counted: {dashboards if fleet.dashboards else ''}{OTHER_COSTS}"
    yield prices.words
    yield from _sources(fleet)


def _sources(fleet: FleetCost) -> Iterator[str]:
    """Of what the table has from the catalog."""
    sources, region = price_list(), fleet.environment.region
    prices = [
        endpoint for endpoint in fleet.endpoints if not fleet.prices.states(endpoint.instance_type, region)
    ]
    if any(price.certain for price in prices):
        yield f"stated: {sources.stated}"
    if instance_types := sorted({price.instance_type for price in prices if price.is_computed}):
        yield f"{COMPUTED_SIGN} {', '.join(instance_types)}: {sources.computed}"
    if fleet.dashboards:
        yield f"dashboards: {sources.dashboards}"


def _saving_line(endpoint: EndpointCost, saving: Saving, sign: str) -> str:
    parts, count = "routes" if endpoint.routes else "archives", endpoint.separate_count
    exclusion = (
        f"{count} {parts} on one endpoint instead of {count} endpoints of one"
        f" {endpoint.instance_type} each ({sign}{saving.separate_cost.per_hour:,.4f} an hour)"
    )
    if saving.cost.per_hour <= 0:
        return f"{exclusion} save nothing at min"
    percent, yearly_saving = f"{saving.percent.normalize():f}", f"{sign}{saving.cost.per_year:,}"
    hours = (
        f"; for the price of one the {endpoint.separate_count} could run {saving.hours} hours a day"
        if endpoint.routes
        else ""
    )
    return f"{exclusion} save at min {percent} %, {yearly_saving} a year of {YEAR:,} hours{hours}"
