"""The lines of a report about endpoints that a promotion would change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from triton_fleet.changes.endpoint_group import MAX_NAMES, label, names_by_owner, without_name
from triton_fleet.changes.money_change import money_change
from triton_fleet.changes.pending_promotion import PendingPromotion, PromotionState
from triton_fleet.changes.wording import MAX_WORDS, RepeatedLine, finding_line
from triton_fleet.core.formats import count_of

MAX_PROMOTIONS, MAX_PROMOTIONS_IN_SHORT = 20, 5
"""Lines in a comment, in a short one the second; the other endpoints are counted."""
REFUSALS_TITLE = "findings against a promotion"


def pending_line(promotion: PendingPromotion) -> str:
    """One endpoint in one line."""
    return _line([promotion], promotion.endpoint)


def refusal_lines(promotions: Sequence[PendingPromotion], limit: int | None = None) -> list[str]:
    """A line for each finding of what would be refused, up to a limit, and the number of the others."""
    lines = list(
        dict.fromkeys(finding_line(refusal) for promotion in promotions for refusal in promotion.refusals)
    )
    more = lines[limit:] if limit is not None else []
    command = f"`fleet check --env {promotions[0].environment}`" if promotions else ""
    return [*lines[:limit], *([f"and {count_of(len(more), 'more finding')}: {command}"] * bool(more))]


def pending_lines(promotions: Sequence[PendingPromotion], limit: int | None = None) -> Iterator[RepeatedLine]:
    """A line of a report for each up to a limit, and the number of the others.

    Endpoints with the same changes and refusals have one line, with their names by owner and the sum of their
    costs.
    """
    groups = _groups(promotions)
    for group in groups[:limit]:
        names, owners = (
            [promotion.endpoint for promotion in group],
            {promotion.endpoint: promotion.owner for promotion in group},
        )
        names_below = names_by_owner(names, owners) if len(names) > MAX_NAMES else ()
        yield RepeatedLine(text=_line(group, label(names, owners)), names=names_below)
    if limit is not None and (more := [promotion for group in groups[limit:] for promotion in group]):
        command = f"`fleet diff --env {more[0].environment}`"
        yield RepeatedLine(text=f"and {count_of(len(more), 'more endpoint')}: {command}")


def pending_texts(promotions: Sequence[PendingPromotion]) -> Iterator[str]:
    """The same lines for a terminal, with the names of a few endpoints and the number of the others."""
    for group in _groups(promotions):
        names, more = [promotion.endpoint for promotion in group], len(group) - MAX_NAMES
        rest = f" and {count_of(more, 'more endpoint')}" if more > 0 else ""
        yield _line(group, f"{', '.join(names[:MAX_NAMES])}{rest}")


def _groups(promotions: Sequence[PendingPromotion]) -> list[list[PendingPromotion]]:
    """Endpoints whose lines differ in their names and costs alone."""
    groups = dict[object, list[PendingPromotion]]()
    for promotion in promotions:
        texts = tuple(
            without_name(text, promotion.endpoint) for text in (*promotion.texts, promotion.problem)
        )
        key = (
            promotion.state,
            texts,
            bool(promotion.problem),
            _verdict_of(promotion),
            promotion.permitted_codes,
        )
        groups.setdefault(key, []).append(promotion)
    return list(groups.values())


def pending_verdict(promotions: Sequence[PendingPromotion]) -> str:
    """All of them in a few words, for a heading; "" for none."""
    return "; ".join(_verdict_parts(promotions))


def _verdict_parts(promotions: Sequence[PendingPromotion]) -> Iterator[str]:
    wrong = [promotion for promotion in promotions if promotion.problem]
    comparable = [
        promotion
        for promotion in promotions
        if promotion.state is not PromotionState.REMOVED and not promotion.problem
    ]
    if comparable:
        verb = "waits" if len(comparable) == 1 else "wait"
        yield f"{count_of(len(comparable), 'endpoint')} {verb} for promotion, {_cost(comparable)}"
    for verb, codes in (
        ("would be refused", [promotion.codes for promotion in comparable if promotion.codes]),
        (
            "would no longer be refused",
            [promotion.permitted_codes for promotion in comparable if promotion.permitted_codes],
        ),
    ):
        if codes:
            yield f"{len(codes)} {verb}: {', '.join(sorted({*chain(*codes)}))}"
    if without_spec := len(promotions) - len(comparable) - len(wrong):
        yield f"{count_of(without_spec, 'endpoint')} without a spec in main"
    if wrong:
        yield f"{count_of(len(wrong), 'endpoint')} cannot be compared"


def _line(promotions: Sequence[PendingPromotion], subject: str) -> str:
    """One line about endpoints with the same changes; their own names are in it where there is one."""
    first, environment = promotions[0], promotions[0].environment
    if len(promotions) > 1:
        words = [without_name(word, first.endpoint) for word in first.words]
        problem = without_name(first.problem, first.endpoint)
    else:
        words, problem = [*first.words], first.problem
    if problem:
        return f"{subject}: cannot be compared with main: {problem}"
    if first.state is PromotionState.REMOVED:
        names = " ".join(promotion.endpoint for promotion in promotions[:MAX_NAMES])
        command = f"`fleet destroy {names} --env {environment}`"
        pronoun = _pronoun(promotions)
        return f"{subject}: main no longer has {pronoun}; {command} removes {pronoun}"
    if not words:
        return f"waits for promotion: {_verdict_line(first, subject)}"
    verb = "get" if first.state is PromotionState.NEW else "change"
    rest = [f"{len(words) - MAX_WORDS} more"] if len(words) > MAX_WORDS else []
    text = "; ".join([*words[:MAX_WORDS], *rest])
    refusal = _verdict_of(first).replace("{it}", _pronoun(promotions))
    return f"waits for promotion: {environment} would {verb} {subject}: {text}, {_cost(promotions)}{refusal}"


def _verdict_line(promotion: PendingPromotion, subject: str) -> str:
    """The codes that would refuse it from now on, and those that no longer do."""
    former_codes = ", ".join(promotion.permitted_codes)
    if not promotion.codes:
        return f"{promotion.environment} would no longer refuse {subject}: {former_codes}"
    codes = ", ".join(promotion.codes)
    refusal = f"{promotion.environment}'s {_judges(promotion)} would now refuse {subject}: {codes}"
    return f"{refusal}, and no longer: {former_codes}" if former_codes else refusal


def _pronoun(promotions: Sequence[PendingPromotion]) -> str:
    return "it" if len(promotions) == 1 else "them"


def _verdict_of(promotion: PendingPromotion) -> str:
    """The parts of the environment that would refuse it, with the codes."""
    return (
        f"; its {_judges(promotion)} would refuse {{it}}: {', '.join(promotion.codes)}"
        if promotion.codes
        else ""
    )


def _judges(promotion: PendingPromotion) -> str:
    return " and ".join(["rules"] * bool(promotion.by_rules) + ["policies"] * bool(promotion.by_policies))


def _cost(promotions: Sequence[PendingPromotion]) -> str:
    """The difference of a month."""
    money = money_change(
        [(promotion.min_cost.difference, promotion.max_cost.difference) for promotion in promotions]
    )
    return money.words(
        promotions[0].currency, certain=all(promotion.certain_price for promotion in promotions)
    )
