"""The report as one HTML file that needs no network: the comment's content with charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape

from triton_fleet.changes.endpoint_group import EndpointGroup
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.executed_file import EXECUTED, EXECUTED_HINT, MAX_EXECUTED, executed_lines
from triton_fleet.changes.fleet_change import FleetChange
from triton_fleet.changes.promotion_lines import REFUSALS_TITLE, pending_lines, refusal_lines
from triton_fleet.changes.repeated_lines import RepeatedLines
from triton_fleet.changes.wording import (
    effect_text,
    group_details,
    group_money,
    resource_blocks,
    resource_line,
    traffic_words,
)
from triton_fleet.context.traffic import Traffic
from triton_fleet.core.digests import short_commit
from triton_fleet.core.sizes import count_of
from triton_fleet.review.charts import cost_chart, rollout_chart
from triton_fleet.review.markdown_text import MAX_LINE, clean, code_parts

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


def page(found: FleetChange) -> str:
    """The whole report; every text is escaped, and no address is loaded."""
    has_one_heading = len(found.differing) == 1 and not found.executed
    parts = [f"<h1>{'⚠ ' * bool(found.executed)}{escape(found.verdict)}</h1>"] * (not has_one_heading)
    if found.executed:
        files = "".join(
            f"<li>{_with_code(executed_line)}</li>"
            for executed_line in executed_lines(found.executed, MAX_EXECUTED)
        )
        parts.append(f'<div class="w"><p>⚠ {EXECUTED}. {EXECUTED_HINT}</p><ul>{files}</ul></div>')
    parts += [f'<p class="w">⚠ {_with_code(warning)}</p>' for warning in found.warnings]
    heading = "h1" if has_one_heading else "h2"
    parts += [line for place in found.differing for line in _environment(place, heading)]
    if found.product and found.product.lines:
        title = "what the product itself changes"
        parts.append(f"<details><summary>{title}</summary>{_block(found.product.lines)}</details>")
    foot = f"compared with {short_commit(found.commit)}; {found.basis}"
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
    for line in pending_lines(place.pending):
        yield f"<div>{_with_code(line.text)}{_folded('which', line.names)}</div>"
    repeated = RepeatedLines(place.groups)
    if place.groups:
        headings = [heading.format(place.currency) for heading in HEADINGS]
        cells = "".join(f"<th>{heading}</th>" for heading in headings)
        yield f"<table><thead><tr>{cells}</tr></thead><tbody>"
        yield from (_row(group, headings) for group in place.groups)
        yield "</tbody></table>"
    for line in repeated.warnings():
        yield f'<div class="w">⚠ {_with_code(line.text)}{_folded("which", line.names)}</div>'
    if place.groups:
        yield f"<h3>{place.currency} a month before (grey) and after (blue): min, and up to max</h3>"
        yield cost_chart([replace(group.common, endpoint=group.label) for group in place.groups])
        if timed := [rollout for group in place.groups for rollout in _rollouts(group)]:
            yield "<h3>Rollout: the share of calls that new instances answer, once they have started</h3>"
            yield rollout_chart(timed)
        yield "<details><summary>details</summary>"
        for group in place.groups:
            yield from _details(group)
        yield "</details>"
    for title, lines in (
        ("quotas that these endpoints count against", [str(quota) for quota in place.quotas]),
        (REFUSALS_TITLE, refusal_lines(place.pending)),
        (f"{count_of(len(place.new), 'new finding')}", [*repeated.findings(place.new)]),
        (f"{count_of(len(place.fixed), 'fixed finding')}", [*repeated.findings(place.fixed)]),
        ("IAM of the shared stack", place.permissions),
        ("the shared stack", [resource_line(each) for each in place.shared]),
    ):
        if lines:
            yield f"<details><summary>{title}</summary>{_block(lines)}</details>"


def _rollouts(group: EndpointGroup) -> Iterator[tuple[str, Traffic]]:
    """The rollouts of a group that have phases, each once."""
    found = group.variants(lambda each: (each.traffic,) if each.traffic and each.traffic.phases else ())
    for traffic, count in found.items():
        share = f" ({count} of {len(group.members)})" * (count < len(group.members))
        yield f"{group.label}{share}", traffic


def _with_code(text: str) -> str:
    """A text whose parts between single backticks are code."""
    parts = code_parts(escape(clean(text)))
    return "".join(f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts))


def _row(group: EndpointGroup, headings: Sequence[str]) -> str:
    each = group.common
    words = "<br>".join(escape(word) for word in (*each.changes, *each.content))
    cells = [
        ("", _folded(group.label, group.folded_names) or escape(group.label)),
        ("", words),
        ("", escape(effect_text(each))),
        ("", escape(traffic_words(each))),
        (' class="n"', escape(group_money(group, least=True))),
        (' class="n"', escape(group_money(group, least=False))),
    ]
    texts = (
        f'<td{kind} data-h="{head}">{text}</td>' for head, (kind, text) in zip(headings, cells, strict=True)
    )
    return f"<tr>{''.join(texts)}</tr>"


def _folded(summary: str, lines: Sequence[str]) -> str:
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
