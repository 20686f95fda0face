"""The report as one HTML file that needs no network: the comment's content with charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from html import escape

from fleet.catalog.prices import price_list
from fleet.report.endpoint_change import CostChange, EndpointChange
from fleet.report.environment_change import EnvironmentChange
from fleet.report.fleet_change import FleetChange
from fleet.report.markdown_text import MAX_LINE, clean
from fleet.report.traffic import shown_seconds
from fleet.report.update_effect import UpdateEffect
from fleet.report.wording import (
    detail_lists,
    effect_text,
    finding_line,
    money,
    need_words,
    resource_line,
    traffic_words,
)

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page may load: nothing."""
WIDTH, BAR, GAP = 640, 14, 10
"""Units of the charts' view boxes; the browser scales them."""
LABEL = 230
"""The width of the column with names."""
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem;
color:#1b1f24;background:#fff}
h1{font-size:1.3rem}h2{font-size:1.1rem;margin-top:2rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
.scroll{overflow-x:auto}table{border-collapse:collapse;min-width:44rem;width:100%}
th,td{border-bottom:1px solid #d0d7de;padding:.4rem .5rem;text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums}
.w{background:#fff4d6;padding:.4rem .6rem;margin:.3rem 0}
pre{overflow-x:auto;background:#f6f8fa;padding:.6rem;font-size:.85em}summary{cursor:pointer;margin:.8rem 0}
svg{width:100%;height:auto;max-width:52rem;display:block}svg text{font-size:12px;fill:#1b1f24}
.before{fill:#9aa5b1}.after{fill:#0969da}.more{opacity:.35}
"""


def page(found: FleetChange) -> str:
    """The whole report; every text is escaped, and no address is loaded."""
    prices = price_list()
    parts = [f"<h1>{escape(found.verdict)}</h1>"] * (len(found.differing) != 1)
    parts += [f'<p class="w">{escape(each)}</p>' for each in found.notes]
    heading = "h1" if len(found.differing) == 1 else "h2"
    parts += [line for place in found.differing for line in _environment(place, heading)]
    foot = (
        f"compared with {found.commit[:12]}; a month is 720 hours; prices of {prices.region}, {prices.date}"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            f"<title>fleet report</title><style>{STYLE}</style></head><body>",
            *parts,
            f"<p><small>{escape(foot)}</small></p></body></html>",
            "",
        ]
    )


def _environment(place: EnvironmentChange, heading: str) -> Iterator[str]:
    yield f"<{heading}>{escape(place.name)}: {escape(place.verdict)}</{heading}>"
    for text in (*place.notes, *(text for each in place.endpoints for text in _warnings(each))):
        yield f'<p class="w">⚠ {_with_code(text)}</p>'
    if place.endpoints:
        heads = ("endpoint", "change", "AWS does", "traffic", "USD a month, min", "max")
        yield f'<div class="scroll"><table><tr>{"".join(f"<th>{each}</th>" for each in heads)}</tr>'
        yield from map(_row, place.endpoints)
        yield "</table></div>"
        yield "<h3>USD a month before (grey) and after (blue): min, and up to max</h3>"
        yield cost_chart(place.endpoints)
        if timed := [each for each in place.endpoints if each.traffic and each.traffic.longest]:
            yield "<h3>Rollout: its waits, and up to its time-out</h3>"
            yield time_chart(timed)
        yield "<details><summary>details</summary>"
        for each in place.endpoints:
            yield from _details(each)
        yield "</details>"
    for title, lines in (
        ("new findings", [finding_line(each) for each in place.new]),
        ("fixed findings", [finding_line(each) for each in place.fixed]),
        ("IAM of the shared stack", place.permissions),
        ("the shared stack", [resource_line(each) for each in place.shared]),
    ):
        if lines:
            yield f"<details><summary>{title}: {len(lines)}</summary>{_block(lines)}</details>"


def _warnings(each: EndpointChange) -> Iterator[str]:
    if each.problem:
        yield f"{each.endpoint} cannot be compared: {each.problem}"
    yield from each.warnings
    if each.need:
        yield f"{need_words(each)}: `fleet preflight --env {each.environment} {each.endpoint}`"


def _with_code(text: str) -> str:
    """A text whose parts in backticks are code."""
    parts = escape(clean(text)).split("`")
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def _row(each: EndpointChange) -> str:
    words = "<br>".join(escape(word) for word in (*each.changes, *each.content))
    texts = (escape(each.endpoint), words, escape(effect_text(each)), escape(traffic_words(each)))
    costs = (
        money(each.least, certain=each.certain_price),
        money(each.most, certain=each.certain_price, percent=False),
    )
    cells = [f"<td>{text}</td>" for text in texts] + [f'<td class="n">{text}</td>' for text in costs]
    return f"<tr>{''.join(cells)}</tr>"


def _details(each: EndpointChange) -> Iterator[str]:
    yield f"<h3>{escape(each.endpoint)}</h3><ul>"
    for title, texts in detail_lists(each):
        yield f"<li>{title}: {'<br>'.join(_with_code(text) for text in texts)}</li>"
    yield "</ul>"
    if each.resources and each.effect not in (UpdateEffect.CREATED, UpdateEffect.REMOVED):
        yield _block(map(resource_line, each.resources))


def _block(lines: Iterable[str]) -> str:
    return f"<pre>{escape(chr(10).join(clean(each, MAX_LINE) for each in lines))}</pre>"


def cost_chart(endpoints: tuple[EndpointChange, ...]) -> str:
    """Two bars for each endpoint with a price: at min in full colour, up to max in a lighter one."""
    bars = list[tuple[str, str, Decimal, Decimal, str]]()
    for each in endpoints:
        for kind in ("before", "after"):
            least, most = _monthly(each.least, kind), _monthly(each.most, kind)
            if least is not None and most is not None:
                label = each.endpoint if kind == "before" else ""
                bars.append((label, kind, least, most, f"{least:,} to {most:,}"))
    return _chart(bars)


def time_chart(endpoints: list[EndpointChange]) -> str:
    """A bar for each rollout: what it waits at least in full colour, up to its time-out in a lighter one."""
    return _chart(
        [
            (
                each.endpoint,
                "after",
                Decimal(each.traffic.shortest or 0),
                Decimal(each.traffic.longest or 0),
                f"{shown_seconds(each.traffic.shortest or 0)} to {shown_seconds(each.traffic.longest or 0)}",
            )
            for each in endpoints
            if each.traffic
        ]
    )


def _monthly(cost: CostChange, kind: str) -> Decimal | None:
    found = cost.before if kind == "before" else cost.after
    return None if found is None else found.monthly


def _chart(bars: list[tuple[str, str, Decimal, Decimal, str]]) -> str:
    """Bars of a label, a class, two lengths and a text each."""
    longest = max((most for _, _, _, most, _ in bars), default=Decimal(0)) or Decimal(1)
    room, y, drawn = WIDTH - LABEL - 160, 0, list[str]()
    for label, kind, least, most, text in bars:
        y += BAR + (GAP if label else 2)
        low, high = (f"{room * length / longest:.2f}" for length in (least, most))
        if label:
            drawn.append(f'<text x="0" y="{y}">{escape(label[:34])}</text>')
        drawn.append(
            f'<rect class="{kind} more" x="{LABEL}" y="{y - BAR + 3}" width="{high}" height="{BAR - 2}"/>'
        )
        drawn.append(f'<rect class="{kind}" x="{LABEL}" y="{y - BAR + 3}" width="{low}" height="{BAR - 2}"/>')
        drawn.append(f'<text x="{LABEL + float(high) + 6:.1f}" y="{y}">{escape(text)}</text>')
    return f'<svg viewBox="0 0 {WIDTH} {y + GAP}" role="img">{"".join(drawn)}</svg>'
