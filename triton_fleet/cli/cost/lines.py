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
from triton_fleet.core.sizes import count_of
from triton_fleet.printers.console import unfolded_console

_HEADINGS = ("min", "an hour", "a month", "max", "an hour", "a month")
NOT_COUNTED = (
    "second instances while an endpoint is updated, volumes, S3, logs, metrics, alarms, captured calls,"
    " builds of engines, traffic, taxes, discounts"
)


def print_cost(found: FleetCost) -> None:
    """Print a table, then what the numbers mean, what they leave out, and their source."""
    console, place = unfolded_console(), found.environment
    title = f"{place.environment}: account {place.account}, {place.region}; {found.prices.currency}\n"
    console.print(Text(title, "bold"), soft_wrap=True)
    has_owners = any(endpoint.owner for endpoint in found.endpoints)
    console.print_fitting(
        [
            _table(found, owners=has_owners, hourly=True),
            _table(found, owners=False, hourly=True),
            _table(found, owners=False, hourly=False),
        ]
    )
    say("")
    for line in _lines(found):
        say(line)


def print_groups(by: str, fleets: Sequence[FleetCost], groups: Sequence[CostGroup]) -> None:
    """Print a table of the groups, the most expensive first, then what the numbers mean."""
    console, prices = unfolded_console(), fleets[0].prices
    names = ", ".join(fleet.environment.environment for fleet in fleets)
    console.print(Text(f"{names}: by {by}; {prices.currency}\n", "bold"), soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column(by, overflow="fold")
    for heading in ("endpoints", "min an hour", "a month", "max an hour", "a month"):
        table.add_column(heading, justify="right", no_wrap=True)
    total = EndpointCosts(endpoints=tuple(endpoint for fleet in fleets for endpoint in fleet.endpoints))
    sign = max(map(_sign, total.endpoints), default="")
    for group in groups:
        table.add_row(*_row(group.name, group, sign))
    if len(groups) > 1:
        table.add_section()
        table.add_row(*_row("total", total, sign))
    console.print(table)
    say("")
    if total.unpriced:
        names = ", ".join(f"{each.endpoint} ({each.environment})" for each in total.unpriced)
        say(f"unknown; not in the totals: {names}; run without --by to see why")
    if sum(len(group.endpoints) for group in groups) > len(total.endpoints):
        say("an endpoint of several profiles is in several rows, and once in the total")
    if sign:
        say(f"{LEGEND}; run without --by to see which")
    say(f"a month is {MONTH} hours (24 x 30); {prices.words}")


def _row(name: str, costs: EndpointCosts, sign: str) -> tuple[Text | str, ...]:
    """The cells of a row, with the number of its endpoints that are not in the sums."""
    cells = *_cells(costs.at_least, sign), *_cells(costs.at_most, sign)
    return Text(_sum_name(name, costs), "bold"), str(len(costs.endpoints)), *cells


def _sum_name(name: str, costs: EndpointCosts) -> str:
    """The name of a row of sums."""
    return name if costs.at_most is None else with_unknown(name, len(costs.unpriced))


def _table(found: FleetCost, *, owners: bool, hourly: bool) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("endpoint", overflow="fold")
    if owners:
        table.add_column("owner", overflow="fold")
    table.add_column("instance type", overflow="fold")
    for heading in (heading for heading in _HEADINGS if hourly or heading != "an hour"):
        table.add_column(heading, justify="right", no_wrap=True)
    for endpoint in found.endpoints:
        sign = _sign(endpoint)
        table.add_row(
            Text(endpoint.endpoint, "bold"),
            *([endpoint.owner or "-"] if owners else []),
            endpoint.instance_type,
            str(endpoint.least),
            *_cells(endpoint.at_least, sign, hourly=hourly),
            str(endpoint.most),
            *_cells(endpoint.at_most, sign, hourly=hourly),
        )
    if len(found.endpoints) > 1:
        sign = max(map(_sign, found.endpoints))
        least, most = (_cells(each, sign, hourly=hourly) for each in (found.at_least, found.at_most))
        sums = ["", *least, "", *most]
        table.add_section()
        table.add_row(Text(_sum_name("total", found), "bold"), *([""] if owners else []), "", *sums)
    return table


def _sign(each: EndpointCost) -> str:
    return price_sign(certain=not each.is_computed)


def _cells(cost: Cost | None, sign: str, *, hourly: bool = True) -> tuple[str, ...]:
    if cost is None:
        return ("unknown",) * (1 + hourly)
    return (*([f"{sign}{cost.hourly:,.4f}"] if hourly else []), f"{sign}{cost.monthly:,}")


def _lines(found: FleetCost) -> Iterator[str]:
    prices, region = found.prices, found.environment.region
    for endpoint in found.endpoints:
        if endpoint.scheduled:
            yield f"{endpoint.endpoint}: schedules change the range: min is its lowest end, max its highest"
        if endpoint.saving is not None:
            yield f"{endpoint.endpoint}: {_saving_line(endpoint, endpoint.saving, _sign(endpoint))}"
    for each in found.unpriced:
        reason, remedy = prices.absence(each.instance_type, region)
        yield f"{each.endpoint}: unknown; not in the totals: {reason}; {remedy}"
    monthly = "unknown" if found.dashboards_monthly is None else found.dashboards_monthly
    dashboards = f"{count_of(found.dashboards, 'dashboard')} ({monthly} a month), "
    yield f"a month is {MONTH} hours (24 x 30)"
    yield f"not counted: {dashboards if found.dashboards else ''}{NOT_COUNTED}"
    yield prices.words
    yield from _sources(found)


def _sources(found: FleetCost) -> Iterator[str]:
    """Of what the table has from the catalog."""
    sources, region = price_list(), found.environment.region
    listed = [
        endpoint for endpoint in found.endpoints if not found.prices.states(endpoint.instance_type, region)
    ]
    if any(each.certain for each in listed):
        yield f"stated: {sources.stated}"
    if computed := sorted({each.instance_type for each in listed if each.is_computed}):
        yield f"{COMPUTED_SIGN} {', '.join(computed)}: {sources.computed}"
    if found.dashboards:
        yield f"dashboards: {sources.dashboards}"


def _saving_line(each: EndpointCost, saving: Saving, sign: str) -> str:
    parts = "routes" if each.routes else "archives"
    apart = (
        f"{each.apart} {parts} on one endpoint instead of {each.apart} endpoints of one"
        f" {each.instance_type} each ({sign}{saving.apart.hourly:,.4f} an hour)"
    )
    if saving.cost.hourly <= 0:
        return f"{apart} save nothing at min"
    percent, yearly = f"{saving.percent.normalize():f}", f"{sign}{saving.cost.yearly:,}"
    hours = (
        f"; for the price of one the {each.apart} could run {saving.hours} hours a day" if each.routes else ""
    )
    return f"{apart} save at min {percent} %, {yearly} a year of {YEAR:,} hours{hours}"
