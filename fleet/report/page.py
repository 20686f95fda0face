"""The report as one HTML file that needs no network: the comment's content with charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from fleet.catalog.prices import price_list
from fleet.report.charts import cost_chart, rollout_chart
from fleet.report.endpoint_change import EndpointChange
from fleet.report.environment_change import EnvironmentChange
from fleet.report.fleet_change import FleetChange
from fleet.report.markdown_text import MAX_LINE, clean, code_parts
from fleet.report.pending_promotion import REFUSED, pending_lines, refusal_lines
from fleet.report.update_effect import UpdateEffect
from fleet.report.wording import (
    EXECUTED,
    EXECUTED_HINT,
    MAX_EXECUTED,
    detail_lists,
    effect_text,
    executed_lines,
    finding_line,
    money,
    need_words,
    resource_line,
    traffic_words,
)

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""What the page may load: nothing."""
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
.before{fill:#9aa5b1}.after{fill:#0969da}.more{opacity:.35}svg text.in{fill:#fff}
"""


def page(found: FleetChange) -> str:
    """The whole report; every text is escaped, and no address is loaded."""
    prices = price_list()
    has_one_heading = len(found.differing) == 1 and not found.executed
    parts = [f"<h1>{'⚠ ' * bool(found.executed)}{escape(found.verdict)}</h1>"] * (not has_one_heading)
    if found.executed:
        files = "".join(
            f"<li>{_with_code(each)}</li>" for each in executed_lines(found.executed, MAX_EXECUTED)
        )
        parts.append(f'<div class="w"><p>⚠ {EXECUTED}. {EXECUTED_HINT}</p><ul>{files}</ul></div>')
    parts += [f'<p class="w">⚠ {_with_code(each)}</p>' for each in found.warnings]
    heading = "h1" if has_one_heading else "h2"
    parts += [line for place in found.differing for line in _environment(place, heading)]
    if found.product and found.product.lines:
        title = "what the product itself changes"
        parts.append(f"<details><summary>{title}</summary>{_block(found.product.lines)}</details>")
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
    yield from (f"<p>{_with_code(each)}</p>" for each in pending_lines(place.pending))
    if place.endpoints:
        heads = ("endpoint", "change", "AWS does", "traffic", "USD a month, min", "max")
        yield f'<div class="scroll"><table><tr>{"".join(f"<th>{each}</th>" for each in heads)}</tr>'
        yield from map(_row, place.endpoints)
        yield "</table></div>"
        yield "<h3>USD a month before (grey) and after (blue): min, and up to max</h3>"
        yield cost_chart(place.endpoints)
        if timed := {
            each.endpoint: each.traffic for each in place.endpoints if each.traffic and each.traffic.phases
        }:
            yield "<h3>Rollout: the share of calls that new instances answer, once they have started</h3>"
            yield rollout_chart(timed)
        yield "<details><summary>details</summary>"
        for each in place.endpoints:
            yield from _details(each)
        yield "</details>"
    for title, lines in (
        ("quotas that these endpoints count against", [str(each) for each in place.quotas]),
        (REFUSED, refusal_lines(place.pending)),
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
    """A text whose parts between single backticks are code."""
    parts = code_parts(escape(clean(text)))
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
