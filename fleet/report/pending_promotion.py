"""An endpoint that a promotion would change: its keys and content, its cost, and what would refuse it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from fleet.catalog.prices import CURRENCY
from fleet.core.sizes import count_of
from fleet.findings import Finding
from fleet.report.cost import Cost
from fleet.report.money_change import FREE, CostChange, money_change
from fleet.report.spec_changes import KeyChange
from fleet.report.wording import finding_line
from fleet.spec.endpoint import EndpointSpec

MAX_WORDS = 6
"""So many changes of an endpoint are in its line; the others are counted."""
MAX_CHARACTERS = 120
"""The length of one change in a line, such as a mapping that is new."""
MAX_NAMES = 3
"""So many endpoints with the same changes are named in their line."""
MAX_PENDING = {True: 20, False: 5}
"""So many lines are in a comment, and in one that is short."""
REFUSED = "findings against a promotion"
NO_COST = CostChange(before=FREE, after=FREE)


class PromotionState(StrEnum):
    """What a promotion is to the endpoint; `REMOVED` if main no longer has it, so that no promotion comes."""

    NEW = "new"
    CHANGED = "changed"
    REMOVED = "removed"


@dataclass(frozen=True, kw_only=True)
class PendingPromotion:
    """What main has of one endpoint and its environment does not have yet.

    Attributes:
        changes: Keys of the spec, each with the environment's value and main's.
        content: Archives, engines and images that differ, in words.
        machines: The instances of a new endpoint; "" for others.
        least: The cost of the fewest instances, in the environment and by main. `most` is that of the most.
        certain_price: Whether all prices that are known are stated by somebody.
        currency: Of both costs.
        by_rules: What rules of the environment would refuse of it. `by_policies` is what its policies would.
        earlier: Keys that waited with another value at the base of a change.
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
        """Each difference with both values."""
        words = (self.machines, *map(self._key, self.changes), *self.content)
        return tuple(
            each if len(each) <= MAX_CHARACTERS else f"{each[:MAX_CHARACTERS]}…" for each in words if each
        )

    def _key(self, change: KeyChange) -> str:
        before = next((f" (so far {each.values})" for each in self.earlier if each.path == change.path), "")
        return f"{change.key} {change.values}{before}"

    def __str__(self) -> str:
        """One line."""
        return _line([self])


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


def pending_lines(found: Sequence[PendingPromotion], limit: int | None = None) -> Iterator[str]:
    """A line for each up to a limit, and the number of the others.

    Endpoints with the same changes and refusals have one line, with the sum of their costs.
    """
    groups = dict[object, list[PendingPromotion]]()
    for each in found:
        key = (each.state, each.words, _verdict_of(each), each.problem)
        groups.setdefault(key, []).append(each)
    lines = list(groups.values())
    yield from map(_line, lines[:limit])
    if limit is not None and (more := [each for group in lines[limit:] for each in group]):
        yield f"and {count_of(len(more), 'more endpoint')}: `fleet diff --env {more[0].environment}`"


def pending_verdict(found: Sequence[PendingPromotion]) -> str:
    """All of them in a few words, for a heading; "" for none."""
    return "; ".join(_verdict_parts(found))


def _verdict_parts(found: Sequence[PendingPromotion]) -> Iterator[str]:
    waiting = [each for each in found if each.state is not PromotionState.REMOVED]
    if waiting:
        verb = "waits" if len(waiting) == 1 else "wait"
        yield f"{count_of(len(waiting), 'endpoint')} {verb} for promotion, {_cost(waiting)}"
    if codes := sorted({code for each in waiting for code in each.codes}):
        yield f"{sum(bool(each.codes) for each in waiting)} would be refused: {', '.join(codes)}"
    if kept := len(found) - len(waiting):
        yield f"{count_of(kept, 'endpoint')} without a spec in main"


def added_promotions(
    base: Sequence[PendingPromotion], head: Sequence[PendingPromotion]
) -> tuple[PendingPromotion, ...]:
    """What waits at the head of a change that does not wait at its base, with the cost that it adds.

    Args:
        base: What waits for a promotion to an environment at the base.
        head: The same at the head.
    """
    before = {each.endpoint: each for each in base}
    return tuple(filter(None, (_added(before.get(each.endpoint), each) for each in head)))


def _added(base: PendingPromotion | None, head: PendingPromotion) -> PendingPromotion | None:
    if base is None or base.problem or head.problem or base.state is not head.state:
        return head if base != head else None
    changes = tuple(each for each in head.changes if each not in base.changes)
    content = tuple(each for each in head.content if each not in base.content)
    machines = head.machines if head.machines != base.machines else ""
    if not (changes or content or machines):
        return None
    return replace(
        head,
        changes=changes,
        content=content,
        machines=machines,
        earlier=base.changes,
        least=_beyond(base.least, head.least),
        most=_beyond(base.most, head.most),
        certain_price=base.certain_price and head.certain_price,
    )


def _beyond(base: CostChange, head: CostChange) -> CostChange:
    """The cost after the head's promotion, and before it as if the base's had come already."""
    known = [each.hourly for each in (head.before, base.difference) if each is not None]
    before = Cost(hourly=known[0] + known[1]) if len(known) == 2 else None
    return CostChange(before=before, after=head.after, same=base.same and head.same)


def _line(found: Sequence[PendingPromotion]) -> str:
    """What one endpoint waits for, or several with the same changes."""
    first, names = found[0], [each.endpoint for each in found]
    named = ", ".join(names[:MAX_NAMES])
    who = named if len(names) <= MAX_NAMES else f"{named} and {len(names) - MAX_NAMES} more endpoints"
    where = first.environment
    if first.state is PromotionState.REMOVED:
        command = f"`fleet destroy {' '.join(names[:MAX_NAMES])} --env {where}`"
        return f"{who}: main no longer has {_it(found)}; {command} removes {_it(found)}"
    if first.problem:
        return f"{who}: cannot be compared with main: {first.problem}"
    verb = "get" if first.state is PromotionState.NEW else "change"
    rest = [f"{len(first.words) - MAX_WORDS} more"] if len(first.words) > MAX_WORDS else []
    what = "; ".join([*first.words[:MAX_WORDS], *rest])
    refused = _verdict_of(first).replace("{it}", _it(found))
    return f"waits for promotion: {where} would {verb} {who}: {what}, {_cost(found)}{refused}"


def _it(found: Sequence[PendingPromotion]) -> str:
    return "it" if len(found) == 1 else "them"


def _verdict_of(each: PendingPromotion) -> str:
    """Who would refuse it, with the codes."""
    who = " and ".join(["rules"] * bool(each.by_rules) + ["policies"] * bool(each.by_policies))
    return f"; its {who} would refuse {{it}}: {', '.join(each.codes)}" if who else ""


def _cost(found: Sequence[PendingPromotion]) -> str:
    """The difference of a month."""
    money = money_change([(each.least.difference, each.most.difference) for each in found])
    return money.words(found[0].currency, certain=all(each.certain_price for each in found))
