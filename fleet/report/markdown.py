"""The report as one comment of a pull request: a verdict, a table for each environment, details folded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from fleet.catalog.prices import price_list
from fleet.core.sizes import count_of
from fleet.report.cost import signed
from fleet.report.endpoint_change import EndpointChange
from fleet.report.environment_change import EnvironmentChange
from fleet.report.fleet_change import FleetChange
from fleet.report.markdown_text import MAX_LINE, clean, inline, inline_code
from fleet.report.pending_promotion import MAX_PENDING, REFUSED, pending_lines, refusal_lines
from fleet.report.update_effect import UpdateEffect
from fleet.report.wording import (
    EXECUTED,
    EXECUTED_HINT,
    MAX_EXECUTED,
    MAX_WORDS,
    MIN_EXECUTED,
    QUOTAS,
    detail_lists,
    effect_words,
    executed_lines,
    finding_line,
    money,
    need_words,
    resource_line,
    traffic_words,
)

MARKER = "<!-- triton-fleet-report -->"
"""What a workflow finds the comment by that it updates."""
HEADINGS = (
    "| endpoint | change | AWS does | traffic | USD a month, min | max |",
    "| --- | --- | --- | --- | ---: | ---: |",
)


def markdown(found: FleetChange, limit: int) -> str:
    """The comment; what does not fit into the limit is left out, the least risk first, and counted.

    Args:
        found: The change.
        limit: Bytes of UTF-8; 0 for all.
    """
    rows = sum(len(each.endpoints) for each in found.differing)
    whole = _page(found, rows, rows, lists=True)
    if limit == 0 or _size(whole) <= limit:
        return whole
    return (
        _most(rows, limit, lambda count: _page(found, rows, count, lists=True))
        or _most(rows, limit, lambda count: _page(found, rows, count, lists=False))
        or _most(rows, limit, lambda count: _page(found, count, 0, lists=False))
        or _cut(f"{MARKER}\n### {'⚠ ' * bool(found.executed)}{inline(found.verdict, limit)}", limit)
    )


def _most(count: int, limit: int, page: Callable[[int], str]) -> str:
    """The page with the most parts that fits; empty where none fits even without any."""
    low, best = 0, ""
    while low <= count:
        middle = (low + count) // 2
        text = page(middle)
        if _size(text) <= limit:
            low, best = middle + 1, text
        else:
            count = middle - 1
    return best


def _size(text: str) -> int:
    return len(text.encode())


def _cut(text: str, limit: int) -> str:
    return text.encode()[: limit - 5].decode("utf-8", "ignore") + " …\n"


def _page(found: FleetChange, rows: int, details: int, *, lists: bool) -> str:
    """The comment with so many rows and details, those of the most risk.

    With `lists` also what is about whole environments: findings, the shared stack.
    """
    by_risk = sorted(
        ((each.rank, place.name, each) for place in found.differing for each in place.endpoints),
        key=lambda entry: entry[:2],
    )
    shown = {(name, each.endpoint) for _, name, each in by_risk[:rows]}
    told = {(name, each.endpoint) for _, name, each in by_risk[:details]}
    lines = [MARKER, *_executed_files(found, MAX_EXECUTED if lists else MIN_EXECUTED)]
    if not found.differing:
        lines.append(f"### {inline(found.rest)} compared with `{found.commit[:12]}`")
    elif len(found.differing) > 1:
        lines += [f"## {inline(found.verdict, MAX_LINE)}", ""] * (not found.executed)
    for place in found.differing:
        lines += _environment(place, shown, told, lists=lists)
    lines += [f"- ⚠ {inline_code(each, MAX_LINE)}" for each in found.warnings]
    if lists and found.product and found.product.lines:
        lines += ["", *_folded("what the product itself changes", found.product.lines)]
    left = [(len(by_risk) - len(shown), "endpoint"), (len(shown) - len(told), "endpoint's details")]
    left_out = [f"{count} {noun if count == 1 else _plural(noun)}" for count, noun in left if count > 0]
    left_out += [] if lists else ["findings and shared stacks"]
    if found.differing and left_out:
        lines += ["", f"Left out for length, the least risk first: {', '.join(left_out)}."]
    if found.differing:
        others = f"; {found.rest}" if found.rest else ""
        lines += ["", f"<sub>compared with `{found.commit[:12]}`{inline(others)}; {_prices()}</sub>"]
    return "\n".join(lines) + "\n"


def _executed_files(found: FleetChange, limit: int) -> Iterator[str]:
    """What no row shows comes first: files that a deploy may execute."""
    if found.executed:
        heading = "##" if len(found.differing) > 1 else "###"
        yield from (f"{heading} ⚠ {inline(found.verdict, MAX_LINE)}", "", f"**{EXECUTED}:**", "")
        yield from (f"- ⚠ {inline_code(each)}" for each in executed_lines(found.executed, limit))
        yield from ("", EXECUTED_HINT, "")


def _plural(noun: str) -> str:
    return noun.replace("endpoint's", "endpoints'") if "'" in noun else f"{noun}s"


def _prices() -> str:
    prices = price_list()
    return f"a month is 720 hours; on-demand prices of {prices.region}, {prices.date}"


def _environment(
    place: EnvironmentChange, shown: set[tuple[str, str]], told: set[tuple[str, str]], *, lists: bool
) -> Iterator[str]:
    yield f"### {inline(place.name)}: {inline(place.verdict, MAX_LINE)}"
    yield from (f"\n{inline(each)}" for each in place.notes)
    endpoints = [each for each in place.endpoints if (place.name, each.endpoint) in shown]
    if endpoints:
        yield from ("", *HEADINGS) if place.notes else HEADINGS
        yield from map(_row, endpoints)
        yield ""
    warnings = [text for each in endpoints for text in _warnings(each)]
    if warnings:
        yield from (*(f"- ⚠ {text}" for text in warnings), "")
    if place.pending:
        yield from (
            f"- {inline_code(each, MAX_LINE)}" for each in pending_lines(place.pending, MAX_PENDING[lists])
        )
        yield ""
    if lists:
        yield from _findings(place)
    folded = [each for each in endpoints if (place.name, each.endpoint) in told]
    parts = [line for each in folded for line in _details(each)] + (list(_shared(place)) if lists else [])
    if parts:
        yield from ("<details><summary>details</summary>", "", *parts, "</details>", "")


def _row(each: EndpointChange) -> str:
    words = [*each.changes, *each.content] or ["its template"] * (each.effect is not UpdateEffect.UNKNOWN)
    rest = f"; {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    change = "; ".join(inline(word) for word in words[:MAX_WORDS]) + rest
    cells = [inline(each.endpoint), change, effect_words(each), inline(traffic_words(each))]
    cells += [
        money(each.least, certain=each.certain_price),
        money(each.most, certain=each.certain_price, percent=False),
    ]
    return f"| {' | '.join(cells)} |"


def _warnings(each: EndpointChange) -> Iterator[str]:
    if each.problem:
        yield inline(f"{each.endpoint} cannot be compared: {each.problem}")
    yield from map(inline_code, each.warnings)
    if each.need is not None:
        yield inline_code(f"{need_words(each)}: `fleet preflight --env {each.environment} {each.endpoint}`")


def _findings(place: EnvironmentChange) -> Iterator[str]:
    if refused := refusal_lines(place.pending, MAX_PENDING[True]):
        yield from _folded(REFUSED, refused)
    for name, findings in (("new", place.new), ("fixed", place.fixed)):
        if findings:
            count = f"{count_of(len(findings), 'finding')} {name}"
            yield from _folded(count, [finding_line(each) for each in findings])


def _details(each: EndpointChange) -> Iterator[str]:
    yield f"**{inline(each.endpoint)}**"
    yield ""
    for title, texts in detail_lists(each):
        if len(texts) == 1:
            yield f"- {title}: {inline_code(texts[0], MAX_LINE)}"
        else:
            yield from (f"- {title}:", *(f"  - {inline_code(text, MAX_LINE)}" for text in texts))
    yield ""
    if each.resources and each.effect not in (UpdateEffect.CREATED, UpdateEffect.REMOVED):
        yield from _fence(map(resource_line, each.resources))


def _shared(place: EnvironmentChange) -> Iterator[str]:
    owners = place.by_owner
    if [*owners] not in ([], [""]):
        sums = (
            f"{owner or 'none'} {signed(least)} min, {signed(most)} max"
            for owner, (least, most) in owners.items()
        )
        yield from (f"USD a month by owner: {inline('; '.join(sums))}", "")
    if place.quotas:
        yield from (QUOTAS, "", *(f"- {inline(str(each))}" for each in place.quotas), "")
    if place.permissions:
        yield from ("IAM of the shared stack:", "", *(f"- {inline(each)}" for each in place.permissions), "")
    if place.shared:
        yield from ("the shared stack:", "", *_fence(map(resource_line, place.shared)))


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield from (f"<details><summary>{summary}</summary>", "", *_fence(lines), "</details>", "")


def _fence(lines: Iterable[str]) -> Iterator[str]:
    yield "```text"
    for line in lines:
        text = clean(line, MAX_LINE)
        yield f" {text}" if text.startswith("`") else text
    yield from ("```", "")
