"""The report as one comment of a pull request: a verdict, a table for each environment, details folded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from triton_fleet.changes.endpoint_group import EndpointGroup
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.fleet_change import (
    EXECUTED_FILES_TITLE,
    EXECUTED_HINT,
    MAX_EXECUTED_FILES,
    MAX_EXECUTED_FILES_IN_SHORT,
    FleetChange,
    executed_lines,
)
from triton_fleet.changes.promotion_lines import (
    MAX_PROMOTIONS,
    MAX_PROMOTIONS_IN_SHORT,
    REFUSALS_TITLE,
    pending_lines,
    refusal_lines,
)
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.changes.wording import (
    MAX_WORDS,
    QUOTAS,
    RepeatedLines,
    effect_words,
    group_details,
    group_money,
    resource_blocks,
    resource_line,
    traffic_words,
)
from triton_fleet.core.formats import count_of, short_commit

MARKER = "<!-- triton-fleet-report -->"
"""What a workflow finds the comment by that it updates."""
HEADINGS = "| endpoint | change | AWS does | traffic | {} a month, min | max |"
ALIGNMENTS = "| --- | --- | --- | --- | ---: | ---: |"


def markdown(change: FleetChange, limit: int) -> str:
    """The comment; what does not fit into the limit is left out, the least risk first, and counted.

    Args:
        change: The change.
        limit: Bytes of UTF-8; 0 for all.
    """
    rows = sum(len(environment.groups) for environment in change.environments_to_review)
    whole = _page(change, rows, rows, lists=True)
    if limit == 0 or _size(whole) <= limit:
        return whole
    return (
        _largest_page(rows, limit, lambda count: _page(change, rows, count, lists=True))
        or _largest_page(rows, limit, lambda count: _page(change, rows, count, lists=False))
        or _largest_page(rows, limit, lambda count: _page(change, count, 0, lists=False))
        or _cut(f"{MARKER}\n### {'⚠ ' * bool(change.executed_files)}{inline(change.verdict, limit)}", limit)
    )


def _largest_page(count: int, limit: int, page: Callable[[int], str]) -> str:
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


def _page(change: FleetChange, rows: int, details: int, *, lists: bool) -> str:
    """The comment with so many rows and details, those of the most risk.

    With `lists` also what is about whole environments: findings, the shared stack.
    """
    by_risk = sorted(
        (
            (group.rank, place.name, group)
            for place in change.environments_to_review
            for group in place.groups
        ),
        key=lambda entry: entry[:2],
    )
    listed_rows, row_names = (
        frozenset((name, entry_group.names) for _, name, entry_group in by_risk[:count])
        for count in (rows, details)
    )
    lines = [MARKER, *_executed_files(change, MAX_EXECUTED_FILES if lists else MAX_EXECUTED_FILES_IN_SHORT)]
    if not change.environments_to_review:
        lines.append(f"### {inline(change.rest)} compared with `{short_commit(change.commit)}`")
    elif len(change.environments_to_review) > 1:
        lines += [f"## {inline(change.verdict, MAX_LINE)}", ""] * (not change.executed_files)
    names = _NameLists()
    for place in change.environments_to_review:
        lines += _environment(place, listed_rows, row_names, names, lists=lists)
    lines += [f"- ⚠ {inline_code(warning, MAX_LINE)}" for warning in change.warnings]
    if lists and change.product and change.product.lines:
        lines += ["", *_folded_block("what the product itself changes", change.product.lines)]
    sizes = [sum(len(names) for _, names in entry_group) for entry_group in (listed_rows, row_names)]
    omissions = [
        (sum(len(entry_group.names) for _, _, entry_group in by_risk) - sizes[0], "endpoint"),
        (sizes[0] - sizes[1], "endpoint's details"),
    ]
    left_out = [f"{count} {noun if count == 1 else _plural(noun)}" for count, noun in omissions if count > 0]
    left_out += [] if lists else ["findings and shared stacks"]
    if change.environments_to_review and left_out:
        lines += ["", f"Left out for length, the least risk first: {', '.join(left_out)}."]
    if change.environments_to_review:
        rest = f"; {change.rest}" if change.rest else ""
        basis = f"{inline(rest)}; {inline(change.basis, MAX_LINE)}"
        lines += ["", f"<sub>compared with `{short_commit(change.commit)}`{basis}</sub>"]
    return "\n".join(lines) + "\n"


def _executed_files(change: FleetChange, limit: int) -> Iterator[str]:
    """The files that a deploy may execute: they come first, as no row shows them."""
    if change.executed_files:
        heading = "##" if len(change.environments_to_review) > 1 else "###"
        yield from (f"{heading} ⚠ {inline(change.verdict, MAX_LINE)}", "", f"**{EXECUTED_FILES_TITLE}:**", "")
        yield from (
            f"- ⚠ {inline_code(executed_line)}"
            for executed_line in executed_lines(change.executed_files, limit)
        )
        yield from ("", EXECUTED_HINT, "")


def _plural(noun: str) -> str:
    return noun.replace("endpoint's", "endpoints'") if "'" in noun else f"{noun}s"


class _NameLists:
    """The lists of names on a page: each is written once, and then referred to."""

    def __init__(self) -> None:
        self._lists = set[tuple[str, ...]]()

    def fold(self, label: str, names: Sequence[str]) -> str:
        """A label that opens to names, all on one line as a cell has to be."""
        if not names:
            return inline(label)
        if tuple(names) in self._lists:
            return f"{inline(label)}, as above"
        self._lists.add(tuple(names))
        lines = "<br>".join(inline(name, MAX_LINE) for name in names)
        return f"<details><summary>{inline(label)}</summary>{lines}</details>"

    def fold_rest(self, names: Sequence[str]) -> str:
        """The names behind a line; "" for none."""
        if not names:
            return ""
        return " as above" if tuple(names) in self._lists else f" {self.fold('which', names)}"


Keys = frozenset[tuple[str, tuple[str, ...]]]
"""Groups by their environment and names."""


def _environment(
    place: EnvironmentChange, rows: Keys, details: Keys, names: _NameLists, *, lists: bool
) -> Iterator[str]:
    yield f"### {inline(place.name)}: {inline(place.verdict, MAX_LINE)}"
    yield from (f"\n⚠ {inline_code(place.price_note, MAX_LINE)}",) * bool(place.price_note)
    yield from (f"\n{inline(note)}" for note in place.notes)
    groups = [group for group in place.groups if (place.name, group.names) in rows]
    with_names = {group.names for group in groups if (place.name, group.names) in details}
    if groups:
        yield from [""] * bool(place.notes or place.price_note)
        yield from (HEADINGS.format(place.currency), ALIGNMENTS)
        yield from (_row(group, names if group.names in with_names else None) for group in groups)
        yield ""
    repeated_lines = RepeatedLines(groups)
    if warnings := [*repeated_lines.warnings()]:
        for warning in warnings:
            yield f"- ⚠ {inline_code(warning.text)}{names.fold_rest(warning.names) if lists else ''}"
        yield ""
    if place.promotions:
        for line in pending_lines(place.promotions, MAX_PROMOTIONS if lists else MAX_PROMOTIONS_IN_SHORT):
            yield f"- {inline_code(line.text, MAX_LINE)}{names.fold_rest(line.names) if lists else ''}"
        yield ""
    if lists:
        yield from _findings(place, repeated_lines)
    parts = [line for group in groups if group.names in with_names for line in _details(group)]
    parts += _shared_parts(place) if lists else ()
    if parts:
        yield from ("<details><summary>details</summary>", "", *parts, "</details>", "")


def _row(group: EndpointGroup, names: _NameLists | None) -> str:
    """A row of the table; without `names` it has the label alone."""
    change_of_group = group.common
    words = [*change_of_group.changes, *change_of_group.content] or ["its template"] * (
        change_of_group.effect is not UpdateEffect.UNKNOWN
    )
    rest = f"; {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
    change = "; ".join(inline(word) for word in words[:MAX_WORDS]) + rest
    endpoints = names.fold(group.label, group.folded_names) if names else inline(group.label)
    cells = [endpoints, change, effect_words(change_of_group), inline(traffic_words(change_of_group))]
    cells += [inline(group_money(group, is_min=True)), inline(group_money(group, is_min=False))]
    return f"| {' | '.join(cells)} |"


def _findings(place: EnvironmentChange, repeated_lines: RepeatedLines) -> Iterator[str]:
    if refusals := refusal_lines(place.promotions, MAX_PROMOTIONS):
        yield from _folded_block(REFUSALS_TITLE, refusals)
    for name, findings in (("new", place.new), ("fixed", place.fixes)):
        if findings:
            yield from _folded_block(
                f"{count_of(len(findings), 'finding')} {name}", repeated_lines.findings(findings)
            )


def _details(group: EndpointGroup) -> Iterator[str]:
    yield f"**{inline(group.label)}**"
    yield ""
    for title, texts in group_details(group):
        if len(texts) == 1:
            yield f"- {title}: {inline_code(texts[0], MAX_LINE)}"
        else:
            yield from (f"- {title}:", *(f"  - {inline_code(text, MAX_LINE)}" for text in texts))
    yield ""
    for share, lines in resource_blocks(group):
        yield from (share, "") if share else ()
        yield from _fence(lines)


def _shared_parts(place: EnvironmentChange) -> Iterator[str]:
    owners = {owner: change for owner, change in place.by_owner.items() if change.differs}
    if [*owners] not in ([], [""]):
        sums = (
            f"{owner or 'none'}: {change.words(place.currency, certain=place.has_certain_prices(owner))}"
            for owner, change in owners.items()
        )
        yield from (f"by owner: {inline('; '.join(sums), MAX_LINE)}", "")
    if place.quotas:
        yield from (QUOTAS, "", *(f"- {inline(str(quota))}" for quota in place.quotas), "")
    if place.permissions:
        yield from (
            "IAM of the shared stack:",
            "",
            *(f"- {inline(permission)}" for permission in place.permissions),
            "",
        )
    if place.foundation:
        yield from ("the shared stack:", "", *_fence(map(resource_line, place.foundation)))


def _folded_block(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield from (f"<details><summary>{summary}</summary>", "", *_fence(lines), "</details>", "")


def _fence(lines: Iterable[str]) -> Iterator[str]:
    yield "```text"
    for line in lines:
        text = clean(line, MAX_LINE)
        yield f" {text}" if text.startswith("`") else text
    yield from ("```", "")


MAX_CHARACTERS = 300
"""Of one text in a line; the details of a fenced block have `MAX_LINE`."""
MAX_LINE = 2_000
_SIGNS = re.compile(r"[\\`*_\[\]<>|~&#]")
_JOINER = "\u2060"
"""Is not seen, and takes no room."""
_REFERENCE = re.compile(
    r'@|:(?=//)|#(?=\w)|[!$%&](?=\d)|~(?=[\w"])|\bwww(?=\.)|\bGH(?=-\d)|[0-9a-f]{6}(?=[0-9a-f])',
    re.IGNORECASE,
)
"""What begins an address, a mention or a reference; GitHub and GitLab look for them even after a backslash.

Source: GitHub Flavored Markdown Spec, "Autolinks (extension)"; GitHub Docs, "Autolinked references and URLs";
GitLab Docs, "GitLab-specific references".
"""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def inline_code(text: str, limit: int = MAX_CHARACTERS) -> str:
    """A text whose parts between single backticks stay code; without power over the page elsewhere."""
    return "".join(
        f"`{part.replace('|', '') or ' '}`" if index % 2 else inline(part, limit)
        for index, part in enumerate(code_parts(clean(text, limit)))
    )


def code_parts(text: str) -> list[str]:
    """A text split at its backticks: every second part is code.

    One part, the whole text, if a backtick has no partner or two are side by side: in Markdown a run of
    backticks is one delimiter, which only a run of the same length closes.
    """
    return [text] if "``" in text or text.count("`") % 2 else text.split("`")


def inline(text: str, limit: int = MAX_CHARACTERS) -> str:
    """A text without power over the page: no markup, HTML, link, reference or mention of a person."""
    with_joiners = _REFERENCE.sub(lambda sign: f"{sign[0]}{_JOINER}", clean(text, limit))
    return _SIGNS.sub(lambda sign: f"\\{sign[0]}", with_joiners)


def clean(text: str, limit: int = MAX_CHARACTERS) -> str:
    """A text on one line without control characters, and shortened."""
    plain = _CONTROL.sub(" ", text)
    return plain if len(plain) <= limit else f"{plain[:limit]}…"
