"""The report as one HTML file that needs no network: the comment's content with charts as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from html import escape

from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.endpoint_group import EndpointGroup
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.fleet_change import (
    EXECUTED_FILES_TITLE,
    EXECUTED_HINT,
    MAX_EXECUTED_FILES,
    FleetChange,
    executed_lines,
)
from triton_fleet.changes.money_change import CostChange
from triton_fleet.changes.promotion_lines import REFUSALS_TITLE, pending_lines, refusal_lines
from triton_fleet.changes.wording import (
    RepeatedLines,
    effect_text,
    group_details,
    group_money,
    resource_blocks,
    resource_line,
    traffic_words,
)
from triton_fleet.context.traffic import Traffic, shown_seconds
from triton_fleet.core.formats import count_of, short_commit
from triton_fleet.review.markdown import MAX_LINE, clean, code_parts

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page may load: nothing."""
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:0 auto;padding:1rem;
color:#1b1f24;background:#fff}
h1{font-size:1.3rem}h2{font-size:1.1rem;margin-top:2rem}h3{font-size:1rem;margin:1.2rem 0 .3rem}
table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid #d0d7de;padding:.4rem .5rem;text-align:left;vertical-align:top}
td{overflow-wrap:anywhere}
td.n{text-align:right;font-variant-numeric:tabular-nums;min-width:7rem}
td summary,.w summary{margin:0}
.w{background:#fff4d6;padding:.4rem .6rem;margin:.3rem 0}
pre{overflow-x:auto;background:#f6f8fa;padding:.6rem;font-size:.85em}summary{cursor:pointer;margin:.8rem 0}
svg{width:100%;height:auto;max-width:52rem;display:block}svg text{font-size:12px;fill:#1b1f24}
@media(max-width:48rem){table,tbody,tr,td{display:block}thead{display:none}
tr{border-bottom:2px solid #8c959f;padding:.5rem 0}
td,td.n{border:0;padding:.15rem 0;text-align:left;min-width:0}
td::before{content:attr(data-h)": ";color:#57606a;font-weight:400}
td:first-child{font-weight:600}td details{display:inline-block}
svg text{font-size:17px}}
.before{fill:#9aa5b1}.after{fill:#0969da}.more{opacity:.35}svg text.in{fill:#fff}
"""
HEADINGS = ("endpoint", "change", "AWS does", "traffic", "{} a month, min", "{} a month, max")
"""Titles of the table's columns, with the currency; on a narrow screen each stands before its value."""


def page(change: FleetChange) -> str:
    """The whole report; every text is escaped, and no address is loaded."""
    has_one_heading = len(change.environments_to_review) == 1 and not change.executed_files
    parts = [f"<h1>{'⚠ ' * bool(change.executed_files)}{escape(change.verdict)}</h1>"] * (not has_one_heading)
    if change.executed_files:
        files = "".join(
            f"<li>{_with_code(executed_line)}</li>"
            for executed_line in executed_lines(change.executed_files, MAX_EXECUTED_FILES)
        )
        parts.append(f'<div class="w"><p>⚠ {EXECUTED_FILES_TITLE}. {EXECUTED_HINT}</p><ul>{files}</ul></div>')
    parts += [f'<p class="w">⚠ {_with_code(warning)}</p>' for warning in change.warnings]
    heading = "h1" if has_one_heading else "h2"
    parts += [line for place in change.environments_to_review for line in _environment(place, heading)]
    if change.product and change.product.lines:
        title = "what the product itself changes"
        parts.append(f"<details><summary>{title}</summary>{_block(change.product.lines)}</details>")
    foot = f"compared with {short_commit(change.commit)}; {change.basis}"
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
    yield from (f'<p class="w">⚠ {_with_code(text)}</p>' for text in (place.price_note, *place.notes) if text)
    for line in pending_lines(place.promotions):
        yield f"<div>{_with_code(line.text)}{_folded_lines('which', line.names)}</div>"
    repeated_lines = RepeatedLines(place.groups)
    if place.groups:
        headings = [heading.format(place.currency) for heading in HEADINGS]
        cells = "".join(f"<th>{heading}</th>" for heading in headings)
        yield f"<table><thead><tr>{cells}</tr></thead><tbody>"
        yield from (_row(group, headings) for group in place.groups)
        yield "</tbody></table>"
    for line in repeated_lines.warnings():
        yield f'<div class="w">⚠ {_with_code(line.text)}{_folded_lines("which", line.names)}</div>'
    if place.groups:
        yield f"<h3>{place.currency} a month before (grey) and after (blue): min, and up to max</h3>"
        yield cost_chart([replace(group.common, endpoint=group.label) for group in place.groups])
        if rollouts := [rollout for group in place.groups for rollout in _rollouts(group)]:
            yield "<h3>Rollout: the share of calls that new instances answer, once they have started</h3>"
            yield rollout_chart(rollouts)
        yield "<details><summary>details</summary>"
        for group in place.groups:
            yield from _details(group)
        yield "</details>"
    for title, lines in (
        ("quotas that these endpoints count against", [str(quota) for quota in place.quotas]),
        (REFUSALS_TITLE, refusal_lines(place.promotions)),
        (f"{count_of(len(place.new), 'new finding')}", [*repeated_lines.findings(place.new)]),
        (
            f"{count_of(len(place.fixes), 'fixed finding')}",
            [*repeated_lines.findings(place.fixes)],
        ),
        ("IAM of the shared stack", place.permissions),
        ("the shared stack", [resource_line(resource) for resource in place.foundation]),
    ):
        if lines:
            yield f"<details><summary>{title}</summary>{_block(lines)}</details>"


def _rollouts(group: EndpointGroup) -> Iterator[tuple[str, Traffic]]:
    """The rollouts of a group that have phases, each once."""
    rollouts = group.variants(
        lambda member: (member.traffic,) if member.traffic and member.traffic.phases else ()
    )
    for traffic, count in rollouts.items():
        share = f" ({count} of {len(group.members)})" * (count < len(group.members))
        yield f"{group.label}{share}", traffic


def _with_code(text: str) -> str:
    """A text whose parts between single backticks are code."""
    parts = code_parts(escape(clean(text)))
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def _row(group: EndpointGroup, headings: Sequence[str]) -> str:
    change = group.common
    words = "<br>".join(escape(word) for word in (*change.changes, *change.content))
    cells = [
        ("", _folded_lines(group.label, group.folded_names) or escape(group.label)),
        ("", words),
        ("", escape(effect_text(change))),
        ("", escape(traffic_words(change))),
        (' class="n"', escape(group_money(group, is_min=True))),
        (' class="n"', escape(group_money(group, is_min=False))),
    ]
    texts = (
        f'<td{kind} data-h="{head}">{text}</td>' for head, (kind, text) in zip(headings, cells, strict=True)
    )
    return f"<tr>{''.join(texts)}</tr>"


def _folded_lines(summary: str, lines: Sequence[str]) -> str:
    """A summary that opens to lines; empty without any."""
    text = "<br>".join(map(escape, lines))
    return f"<details><summary>{escape(summary)}</summary>{text}</details>" * bool(lines)


def _details(group: EndpointGroup) -> Iterator[str]:
    yield f"<h3>{escape(group.label)}</h3><ul>"
    for title, texts in group_details(group):
        yield f"<li>{title}: {'<br>'.join(_with_code(text) for text in texts)}</li>"
    yield "</ul>"
    for share, lines in resource_blocks(group):
        yield f"{share}{_block(lines)}"


def _block(lines: Iterable[str]) -> str:
    return f"<pre>{escape(chr(10).join(clean(line, MAX_LINE) for line in lines))}</pre>"


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
            _month_cost(endpoint.min_cost, kind),
            _month_cost(endpoint.max_cost, kind),
        )
        for endpoint in endpoints
        for kind in ("before", "after")
    ]
    longest = max((max_cost for *_, max_cost in rows if max_cost is not None), default=Decimal(0)) or Decimal(
        1
    )
    y, elements = 0, list[str]()
    for label, kind, min_cost, max_cost in rows:
        if label:
            y += BAR + GAP
            elements.append(_label(label, y))
        y += BAR + BETWEEN
        if min_cost is None or max_cost is None:
            elements.append(_value(0, y, f"unknown {kind}"))
            continue
        low, high = (f"{ROOM * length / longest:.2f}" for length in (min_cost, max_cost))
        elements += [_bar(f"{kind} more", 0, y, high), _bar(kind, 0, y, low)]
        elements.append(_value(float(high), y, f"{min_cost:,} to {max_cost:,}"))
    return _svg(elements, y)


def rollout_chart(rollouts: Sequence[tuple[str, Traffic]]) -> str:
    """A bar for each label, with a part for each phase: the more calls it moves, the fuller its colour."""
    longest = max((traffic_entry.shortest or 0 for _, traffic_entry in rollouts), default=0) or 1
    y, elements = 0, list[str]()
    for label, traffic in rollouts:
        y, x = y + BAR + GAP, 0.0
        elements.append(_label(label, y))
        y += BAR + BETWEEN
        for phase in traffic.phases:
            width = ROOM * phase.seconds / longest
            opacity = FAINTEST + (1 - FAINTEST) * phase.share / 100
            elements.append(_bar("after", x, y, f"{width:.2f}", f' fill-opacity="{opacity:.2f}"'))
            if width >= MIN_TEXT:
                kind = ' class="in"' if phase.share >= DARK else ""
                elements.append(f'<text{kind} x="{x + 3:.1f}" y="{y}">{phase.share:.3g}\u2009%</text>')
            x += width
        words = shown_seconds(traffic.shortest or 0)
        words += f", at most {shown_seconds(traffic.longest)}" if traffic.longest else ""
        elements.append(_value(x, y, words))
    return _svg(elements, y)


def _month_cost(cost: CostChange, kind: str) -> Decimal | None:
    cost_of_side = cost.before if kind == "before" else cost.after
    return None if cost_of_side is None else cost_of_side.per_month


def _label(text: str, y: int) -> str:
    return f'<text x="0" y="{y}">{escape(text[:MAX_LABEL])}</text>'


def _bar(kind: str, x: float, y: int, width: str, more: str = "") -> str:
    return f'<rect class="{kind}" x="{x:g}" y="{y - BAR + 5}" width="{width}" height="{BAR - 2}"{more}/>'


def _value(length: float, y: int, text: str) -> str:
    """A text after a bar; a long one begins in the bar, so that it ends inside."""
    x = max(0.0, min(length + 6, WIDTH - LETTER * len(text)))
    return f'<text x="{x:.1f}" y="{y}">{escape(text)}</text>'


def _svg(elements: Iterable[str], y: int) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {y + GAP}" role="img">{"".join(elements)}</svg>'
