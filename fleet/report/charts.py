"""The charts of the HTML report, as SVG: what endpoints cost, and how their rollouts pass."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from html import escape

from fleet.report.endpoint_change import EndpointChange
from fleet.report.money_change import CostChange
from fleet.report.traffic import Traffic, shown_seconds

WIDTH, BAR, GAP = 640, 14, 10
"""Units of the view boxes; the browser scales them."""
LABEL, VALUE = 210, 200
"""The widths of the columns with names, and with what the bars show."""
ROOM = WIDTH - LABEL - VALUE
MIN_TEXT = 34
"""A part of a bar that is as wide as this has room for its percentage."""
DARK = 60
"""From this percentage on, a part is dark enough for white text."""
FAINTEST = 0.25
"""The opacity of no calls; all calls are in full colour."""


def cost_chart(endpoints: Iterable[EndpointChange]) -> str:
    """Two rows for each endpoint: a bar at min in full colour, up to max in a lighter one, or "unknown"."""
    rows = [
        (
            each.endpoint if kind == "before" else "",
            kind,
            _monthly(each.least, kind),
            _monthly(each.most, kind),
        )
        for each in endpoints
        for kind in ("before", "after")
    ]
    longest = max((most for *_, most in rows if most is not None), default=Decimal(0)) or Decimal(1)
    y, drawn = 0, list[str]()
    for label, kind, least, most in rows:
        y += BAR + (GAP if label else 2)
        drawn += [_label(label, y)] * bool(label)
        if least is None or most is None:
            drawn.append(_value(0, y, f"unknown {kind}"))
            continue
        low, high = (f"{ROOM * length / longest:.2f}" for length in (least, most))
        drawn += [_bar(f"{kind} more", LABEL, y, high), _bar(kind, LABEL, y, low)]
        drawn.append(_value(float(high), y, f"{least:,} to {most:,}"))
    return _drawing(drawn, y)


def rollout_chart(rollouts: Mapping[str, Traffic]) -> str:
    """A bar for each endpoint, with a part for each phase: the more calls it moves, the fuller its colour."""
    longest = max((each.shortest or 0 for each in rollouts.values()), default=0) or 1
    y, drawn = 0, list[str]()
    for endpoint, traffic in rollouts.items():
        y, x = y + BAR + GAP, float(LABEL)
        drawn.append(_label(endpoint, y))
        for phase in traffic.phases:
            width = ROOM * phase.seconds / longest
            opacity = FAINTEST + (1 - FAINTEST) * phase.share / 100
            drawn.append(_bar("after", x, y, f"{width:.2f}", f' fill-opacity="{opacity:.2f}"'))
            if width >= MIN_TEXT:
                kind = ' class="in"' if phase.share >= DARK else ""
                drawn.append(f'<text{kind} x="{x + 3:.1f}" y="{y}">{phase.share:.3g}\u2009%</text>')
            x += width
        words = shown_seconds(traffic.shortest or 0)
        words += f", at most {shown_seconds(traffic.longest)}" if traffic.longest else ""
        drawn.append(_value(x - LABEL, y, words))
    return _drawing(drawn, y)


def _monthly(cost: CostChange, kind: str) -> Decimal | None:
    found = cost.before if kind == "before" else cost.after
    return None if found is None else found.monthly


def _label(text: str, y: int) -> str:
    return f'<text x="0" y="{y}">{escape(text[:34])}</text>'


def _bar(kind: str, x: float, y: int, width: str, more: str = "") -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y - BAR + 3}" width="{width}" height="{BAR - 2}"{more}/>'


def _value(length: float, y: int, text: str) -> str:
    return f'<text x="{LABEL + length + 6:.1f}" y="{y}">{escape(text)}</text>'


def _drawing(drawn: Iterable[str], y: int) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {y + GAP}" role="img">{"".join(drawn)}</svg>'
