"""The lines of a report about endpoints that a promotion would change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from triton_fleet.changes.endpoint_group import MAX_NAMES, label, names_by_owner, without_name
from triton_fleet.changes.money_change import money_change
from triton_fleet.changes.pending_promotion import PendingPromotion, PromotionState
from triton_fleet.changes.wording import MAX_WORDS, RepeatedLine, finding_line
from triton_fleet.core.sizes import count_of

MAX_PENDING, MIN_PENDING = 20, 5
"""Lines in a comment, in a short one the second; the other endpoints are counted."""
REFUSALS_TITLE = "findings against a promotion"


def pending_line(pending: PendingPromotion) -> str:
    """One endpoint in one line."""
    return _line([pending], pending.endpoint)


def refusal_lines(found: Sequence[PendingPromotion], limit: int | None = None) -> list[str]:
    """A line for each finding of what would be refused, up to a limit, and the number of the others."""
    lines = list(dict.fromkeys(finding_line(one) for each in found for one in each.refusals))
    more = lines[limit:] if limit is not None else []
    command = f"`fleet check --env {found[0].environment}`" if found else ""
    return [*lines[:limit], *([f"and {count_of(len(more), 'more finding')}: {command}"] * bool(more))]


def pending_lines(found: Sequence[PendingPromotion], limit: int | None = None) -> Iterator[RepeatedLine]:
    """A line of a report for each up to a limit, and the number of the others.

    Endpoints with the same changes and refusals have one line, with their names by owner and the sum of their
    costs.
    """
    groups = _groups(found)
    for group in groups[:limit]:
        names, owners = [each.endpoint for each in group], {each.endpoint: each.owner for each in group}
        folded = names_by_owner(names, owners) if len(names) > MAX_NAMES else ()
        yield RepeatedLine(text=_line(group, label(names, owners)), names=folded)
    if limit is not None and (more := [each for group in groups[limit:] for each in group]):
        command = f"`fleet diff --env {more[0].environment}`"
        yield RepeatedLine(text=f"and {count_of(len(more), 'more endpoint')}: {command}")


def pending_texts(found: Sequence[PendingPromotion]) -> Iterator[str]:
    """The same lines for a terminal, with the names of a few endpoints and the number of the others."""
    for group in _groups(found):
        names, more = [each.endpoint for each in group], len(group) - MAX_NAMES
        rest = f" and {count_of(more, 'more endpoint')}" if more > 0 else ""
        yield _line(group, f"{', '.join(names[:MAX_NAMES])}{rest}")


def _groups(found: Sequence[PendingPromotion]) -> list[list[PendingPromotion]]:
    """Endpoints whose lines differ in their names and costs alone."""
    groups = dict[object, list[PendingPromotion]]()
    for each in found:
        texts = tuple(without_name(text, each.endpoint) for text in (*each.texts, each.problem))
        key = (each.state, texts, bool(each.problem), _verdict_of(each), each.permitted)
        groups.setdefault(key, []).append(each)
    return list(groups.values())


def pending_verdict(found: Sequence[PendingPromotion]) -> str:
    """All of them in a few words, for a heading; "" for none."""
    return "; ".join(_verdict_parts(found))


def _verdict_parts(found: Sequence[PendingPromotion]) -> Iterator[str]:
    wrong = [each for each in found if each.problem]
    waiting = [each for each in found if each.state is not PromotionState.REMOVED and not each.problem]
    if waiting:
        verb = "waits" if len(waiting) == 1 else "wait"
        yield f"{count_of(len(waiting), 'endpoint')} {verb} for promotion, {_cost(waiting)}"
    for verb, codes in (
        ("would be refused", [each.codes for each in waiting if each.codes]),
        ("would no longer be refused", [each.permitted for each in waiting if each.permitted]),
    ):
        if codes:
            yield f"{len(codes)} {verb}: {', '.join(sorted({*chain(*codes)}))}"
    if kept := len(found) - len(waiting) - len(wrong):
        yield f"{count_of(kept, 'endpoint')} without a spec in main"
    if wrong:
        yield f"{count_of(len(wrong), 'endpoint')} cannot be compared"


def _line(found: Sequence[PendingPromotion], who: str) -> str:
    """One line about endpoints with the same changes; their own names are in it where there is one."""
    first, where = found[0], found[0].environment
    if len(found) > 1:
        words = [without_name(word, first.endpoint) for word in first.words]
        problem = without_name(first.problem, first.endpoint)
    else:
        words, problem = [*first.words], first.problem
    if problem:
        return f"{who}: cannot be compared with main: {problem}"
    if first.state is PromotionState.REMOVED:
        names = " ".join(each.endpoint for each in found[:MAX_NAMES])
        command = f"`fleet destroy {names} --env {where}`"
        return f"{who}: main no longer has {_it(found)}; {command} removes {_it(found)}"
    if not words:
        return f"waits for promotion: {_verdict_line(first, who)}"
    verb = "get" if first.state is PromotionState.NEW else "change"
    rest = [f"{len(words) - MAX_WORDS} more"] if len(words) > MAX_WORDS else []
    what = "; ".join([*words[:MAX_WORDS], *rest])
    refused = _verdict_of(first).replace("{it}", _it(found))
    return f"waits for promotion: {where} would {verb} {who}: {what}, {_cost(found)}{refused}"


def _verdict_line(each: PendingPromotion, who: str) -> str:
    """The codes that would refuse it from now on, and those that no longer do."""
    permitted = ", ".join(each.permitted)
    if not each.codes:
        return f"{each.environment} would no longer refuse {who}: {permitted}"
    refused = f"{each.environment}'s {_judges(each)} would now refuse {who}: {', '.join(each.codes)}"
    return f"{refused}, and no longer: {permitted}" if permitted else refused


def _it(found: Sequence[PendingPromotion]) -> str:
    return "it" if len(found) == 1 else "them"


def _verdict_of(each: PendingPromotion) -> str:
    """The parts of the environment that would refuse it, with the codes."""
    return f"; its {_judges(each)} would refuse {{it}}: {', '.join(each.codes)}" if each.codes else ""


def _judges(each: PendingPromotion) -> str:
    return " and ".join(["rules"] * bool(each.by_rules) + ["policies"] * bool(each.by_policies))


def _cost(found: Sequence[PendingPromotion]) -> str:
    """The difference of a month."""
    money = money_change([(each.least.difference, each.most.difference) for each in found])
    return money.words(found[0].currency, certain=all(each.certain_price for each in found))
