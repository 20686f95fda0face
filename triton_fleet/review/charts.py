"""The charts of the HTML report, as SVG: what endpoints cost, and how their rollouts pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from html import escape

from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.money_change import CostChange
from triton_fleet.context.traffic import Traffic, shown_seconds

WIDTH, BAR, GAP, BETWEEN = 640, 20, 8, 2
"""Units of the view boxes; the browser scales them, on a narrow screen with larger letters."""
LETTER = 9.6
"""The width of one on a narrow screen, where they are the largest."""
MAX_LABEL = int(WIDTH / LETTER)
"""Characters of the line above the bars."""
VALUE = 260
"""The width of the column with what the bars show."""
ROOM = WIDTH - VALUE
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
            endpoint.endpoint if kind == "before" else "",
            kind,
            _monthly(endpoint.least, kind),
            _monthly(endpoint.most, kind),
        )
        for endpoint in endpoints
        for kind in ("before", "after")
    ]
    longest = max((most for *_, most in rows if most is not None), default=Decimal(0)) or Decimal(1)
    y, drawn = 0, list[str]()
    for label, kind, least, most in rows:
        if label:
            y += BAR + GAP
            drawn.append(_label(label, y))
        y += BAR + BETWEEN
        if least is None or most is None:
            drawn.append(_value(0, y, f"unknown {kind}"))
            continue
        low, high = (f"{ROOM * length / longest:.2f}" for length in (least, most))
        drawn += [_bar(f"{kind} more", 0, y, high), _bar(kind, 0, y, low)]
        drawn.append(_value(float(high), y, f"{least:,} to {most:,}"))
    return _drawing(drawn, y)


def rollout_chart(rollouts: Sequence[tuple[str, Traffic]]) -> str:
    """A bar for each label, with a part for each phase: the more calls it moves, the fuller its colour."""
    longest = max((each.shortest or 0 for _, each in rollouts), default=0) or 1
    y, drawn = 0, list[str]()
    for label, traffic in rollouts:
        y, x = y + BAR + GAP, 0.0
        drawn.append(_label(label, y))
        y += BAR + BETWEEN
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
        drawn.append(_value(x, y, words))
    return _drawing(drawn, y)


def _monthly(cost: CostChange, kind: str) -> Decimal | None:
    found = cost.before if kind == "before" else cost.after
    return None if found is None else found.monthly


def _label(text: str, y: int) -> str:
    return f'<text x="0" y="{y}">{escape(text[:MAX_LABEL])}</text>'


def _bar(kind: str, x: float, y: int, width: str, more: str = "") -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y - BAR + 5}" width="{width}" height="{BAR - 2}"{more}/>'


def _value(length: float, y: int, text: str) -> str:
    """A text after a bar; a long one begins in the bar, so that it ends inside."""
    x = max(0.0, min(length + 6, WIDTH - LETTER * len(text)))
    return f'<text x="{x:.1f}" y="{y}">{escape(text)}</text>'


def _drawing(drawn: Iterable[str], y: int) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {y + GAP}" role="img">{"".join(drawn)}</svg>'
