"""An endpoint that a promotion would change: its keys and content, its cost, and what would refuse it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import chain

from fleet.catalog.prices import CURRENCY
from fleet.core.sizes import count_of
from fleet.endpoint.context.cost import Cost
from fleet.findings import Finding
from fleet.report.endpoint_group import MAX_NAMES, label, names_by_owner, without_name
from fleet.report.money_change import FREE, CostChange, money_change
from fleet.report.repeated_lines import RepeatedLine
from fleet.report.spec_changes import KeyChange
from fleet.report.wording import MAX_WORDS, finding_line
from fleet.spec.endpoint import EndpointSpec

MAX_PENDING, MIN_PENDING = 20, 5
"""Lines in a comment, in a short one the second; the other endpoints are counted."""
REFUSALS_TITLE = "findings against a promotion"
NO_COST = CostChange(before=FREE, after=FREE)
UNKNOWN_COST = CostChange(before=None, after=None)


class PromotionState(StrEnum):
    """The effect of a promotion on an endpoint; `REMOVED` if main no longer has it, so that none comes."""

    NEW = "new"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, kw_only=True)
class PendingPromotion:
    """A change of one endpoint that main has and its environment does not have yet.

    Attributes:
        changes: Keys of the spec, each with the environment's value and main's.
        content: Archives, engines and images that differ, in words.
        machines: The instances of a new endpoint; "" for others.
        least: The cost of the fewest instances, in the environment and by main. `most` is that of the most.
        certain_price: Whether all prices that are known are stated by somebody.
        currency: Of both costs.
        by_rules: What rules of the environment would refuse of it. `by_policies` is what its policies would.
        earlier: Keys that waited with another value at the base of a change.
        permitted: Codes that would have refused it at the base of a change, and no longer do.
        owner: Its team.
        problem: Why it cannot be compared; "" if it can.
    """

    endpoint: str
    environment: str
    state: PromotionState
    changes: tuple[KeyChange, ...] = ()
    content: tuple[str, ...] = ()
    machines: str = ""
    least: CostChange = NO_COST
    most: CostChange = NO_COST
    certain_price: bool = True
    currency: str = CURRENCY
    by_rules: tuple[Finding, ...] = ()
    by_policies: tuple[Finding, ...] = ()
    earlier: tuple[KeyChange, ...] = ()
    permitted: tuple[str, ...] = ()
    owner: str | None = None
    problem: str = ""

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """All that the environment would refuse of it."""
        return (*self.by_rules, *self.by_policies)

    @property
    def codes(self) -> tuple[str, ...]:
        """Their codes."""
        return tuple(sorted({each.code for each in self.refusals}))

    @property
    def words(self) -> tuple[str, ...]:
        """Each difference with both values, which are shortened to the part that differs."""
        keys = (f"{each.key} {each.short_values}{self._earlier(each)}" for each in self.changes)
        return tuple(filter(None, (self.machines, *keys, *self.content)))

    @property
    def texts(self) -> tuple[str, ...]:
        """Each difference in full, by which endpoints are compared."""
        return (self.machines, *(f"{each.key} {each.values}" for each in self.changes), *self.content)

    def _earlier(self, change: KeyChange) -> str:
        """The values of a key that waited before."""
        values = (each.short_values for each in self.earlier if each.path == change.path)
        return next((f" (so far {each})" for each in values), "")

    def __str__(self) -> str:
        """One line."""
        return _line([self], self.endpoint)


def machines_of(spec: EndpointSpec, least: int, most: int) -> str:
    """The instances of a new endpoint, such as `1 to 4 × ml.g5.xlarge`."""
    number = str(least) if least == most else f"{least} to {most}"
    return f"{number} × {spec.instance.type}"


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


def added_promotions(
    base: Sequence[PendingPromotion],
    head: Sequence[PendingPromotion],
    content: Mapping[str, tuple[str, ...] | None],
) -> tuple[PendingPromotion, ...]:
    """The promotions that wait at the head of a change and not at its base, with the cost that it adds.

    One that waits at both is in it where the environment would refuse it at one of them alone.

    Args:
        base: The promotions to an environment that wait at the base.
        head: The same at the head.
        content: The archives, engines and images of endpoints that differ between both ends, in words: two
            changes of one file read the same.
    """
    before = {each.endpoint: each for each in base}
    added = (_difference(before.get(each.endpoint), each, content.get(each.endpoint)) for each in head)
    return tuple(filter(None, added))


def _difference(
    base: PendingPromotion | None, head: PendingPromotion, between: tuple[str, ...] | None
) -> PendingPromotion | None:
    if base is None or base.problem or head.problem or base.state is not head.state:
        return head if base != head else None
    changes = tuple(each for each in head.changes if each not in base.changes)
    content = tuple(each for each in head.content if each not in base.content) if between is None else between
    machines = head.machines if head.machines != base.machines else ""
    if not (changes or content or machines):
        return _change_of_verdict(base, head)
    return replace(
        head,
        changes=changes,
        content=content,
        machines=machines,
        earlier=base.changes,
        least=_cost_over_base(base.least, head.least),
        most=_cost_over_base(base.most, head.most),
        certain_price=base.certain_price and head.certain_price,
    )


def _change_of_verdict(base: PendingPromotion, head: PendingPromotion) -> PendingPromotion | None:
    """The refusals of what waits at both ends that only one end has; None if both have the same."""
    permitted = tuple(each for each in base.codes if each not in head.codes)
    by_rules, by_policies = (
        tuple(each for each in side if each.code not in base.codes)
        for side in (head.by_rules, head.by_policies)
    )
    if not (permitted or by_rules or by_policies):
        return None
    return replace(
        head,
        changes=(),
        content=(),
        machines="",
        least=NO_COST,
        most=NO_COST,
        by_rules=by_rules,
        by_policies=by_policies,
        permitted=permitted,
    )


def _cost_over_base(base: CostChange, head: CostChange) -> CostChange:
    """The cost after the head's promotion, and before it as if the base's had come already."""
    known = [each.hourly for each in (head.before, base.difference) if each is not None]
    before = Cost(hourly=known[0] + known[1]) if len(known) == 2 else None
    return CostChange(before=before, after=head.after, same=base.same and head.same)


def _line(found: Sequence[PendingPromotion], who: str) -> str:
    """One line about endpoints with the same changes; their own names are in it where there is one."""
    first, where = found[0], found[0].environment
    if len(found) > 1:
        words = [without_name(each, first.endpoint) for each in first.words]
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
