"""An endpoint that a promotion would change: its keys and content, its cost, and what would refuse it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from triton_fleet.catalog.prices import CURRENCY
from triton_fleet.changes.money_change import FREE, CostChange
from triton_fleet.changes.spec_changes import KeyChange
from triton_fleet.context.cost import Cost
from triton_fleet.findings import Finding
from triton_fleet.spec.endpoint import EndpointSpec

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
        min_cost: The cost of the fewest instances, in the environment and by main.
        max_cost: That of the most.
        certain_price: Whether all prices that are known are stated by somebody.
        currency: Of both costs.
        by_rules: What rules of the environment would refuse of it. `by_policies` is what its policies would.
        earlier: Keys that waited with another value at the base of a change.
        permitted_codes: Codes that would have refused it at the base of a change, and no longer do.
        owner: Its team.
        problem: Why it cannot be compared; "" if it can.
    """

    endpoint: str
    environment: str
    state: PromotionState
    changes: tuple[KeyChange, ...] = ()
    content: tuple[str, ...] = ()
    machines: str = ""
    min_cost: CostChange = NO_COST
    max_cost: CostChange = NO_COST
    certain_price: bool = True
    currency: str = CURRENCY
    by_rules: tuple[Finding, ...] = ()
    by_policies: tuple[Finding, ...] = ()
    earlier: tuple[KeyChange, ...] = ()
    permitted_codes: tuple[str, ...] = ()
    owner: str | None = None
    problem: str = ""

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """All that the environment would refuse of it."""
        return (*self.by_rules, *self.by_policies)

    @property
    def codes(self) -> tuple[str, ...]:
        """Their codes."""
        return tuple(sorted({refusal.code for refusal in self.refusals}))

    @property
    def words(self) -> tuple[str, ...]:
        """Each difference with both values, which are shortened to the part that differs."""
        keys = (f"{change.key} {change.short_values}{self._earlier(change)}" for change in self.changes)
        return tuple(filter(None, (self.machines, *keys, *self.content)))

    @property
    def texts(self) -> tuple[str, ...]:
        """Each difference in full, by which endpoints are compared."""
        return (self.machines, *(f"{change.key} {change.values}" for change in self.changes), *self.content)

    def _earlier(self, change: KeyChange) -> str:
        """The values of a key that waited before."""
        values = (
            earlier_change.short_values
            for earlier_change in self.earlier
            if earlier_change.path == change.path
        )
        return next((f" (so far {value})" for value in values), "")


def machines_of(spec: EndpointSpec, fewest_instances: int, most_instances: int) -> str:
    """The instances of a new endpoint, such as `1 to 4 × ml.g5.xlarge`."""
    number = (
        str(fewest_instances)
        if fewest_instances == most_instances
        else f"{fewest_instances} to {most_instances}"
    )
    return f"{number} × {spec.instance.type}"


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
    before = {promotion.endpoint: promotion for promotion in base}
    differences = (
        _difference(before.get(promotion.endpoint), promotion, content.get(promotion.endpoint))
        for promotion in head
    )
    return tuple(filter(None, differences))


def _difference(
    base: PendingPromotion | None, head: PendingPromotion, between: tuple[str, ...] | None
) -> PendingPromotion | None:
    if base is None or base.problem or head.problem or base.state is not head.state:
        return head if base != head else None
    changes = tuple(change for change in head.changes if change not in base.changes)
    content = tuple(line for line in head.content if line not in base.content) if between is None else between
    machines = head.machines if head.machines != base.machines else ""
    if not (changes or content or machines):
        return _change_of_verdict(base, head)
    return replace(
        head,
        changes=changes,
        content=content,
        machines=machines,
        earlier=base.changes,
        min_cost=_cost_over_base(base.min_cost, head.min_cost),
        max_cost=_cost_over_base(base.max_cost, head.max_cost),
        certain_price=base.certain_price and head.certain_price,
    )


def _change_of_verdict(base: PendingPromotion, head: PendingPromotion) -> PendingPromotion | None:
    """The refusals of what waits at both ends that only one end has; None if both have the same."""
    former_codes = tuple(code for code in base.codes if code not in head.codes)
    by_rules, by_policies = (
        tuple(finding for finding in side if finding.code not in base.codes)
        for side in (head.by_rules, head.by_policies)
    )
    if not (former_codes or by_rules or by_policies):
        return None
    return replace(
        head,
        changes=(),
        content=(),
        machines="",
        min_cost=NO_COST,
        max_cost=NO_COST,
        by_rules=by_rules,
        by_policies=by_policies,
        permitted_codes=former_codes,
    )


def _cost_over_base(base: CostChange, head: CostChange) -> CostChange:
    """The cost after the head's promotion, and before it as if the base's had come already."""
    costs = [cost.per_hour for cost in (head.before, base.difference) if cost is not None]
    before = Cost(per_hour=costs[0] + costs[1]) if len(costs) == 2 else None
    return CostChange(before=before, after=head.after, same=base.same and head.same)
