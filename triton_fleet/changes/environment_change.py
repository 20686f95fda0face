"""A change's effect on an environment: endpoints by risk, shared resources, quotas, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import nlargest

from triton_fleet.catalog.limits import all_instances_quota, instance_quota
from triton_fleet.catalog.prices import CURRENCY
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.endpoint_group import EndpointGroup, endpoint_groups
from triton_fleet.changes.money_change import MoneyChange, money_change
from triton_fleet.changes.pending_promotion import PendingPromotion
from triton_fleet.changes.promotion_lines import pending_verdict
from triton_fleet.changes.templates import Change
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.capacity import DEFAULT_CONCURRENCY
from triton_fleet.core.formats import count_of
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.lock import Lock

LOST_BY_RENAME = "its URL, the capacity that scaling has reached, and the history of metrics, logs and alarms"


@dataclass(frozen=True, kw_only=True)
class EnvironmentChange:
    """One environment in two commits.

    Attributes:
        endpoints: Those that differ, by risk.
        foundation: What CloudFormation does to the stack that endpoints share.
        permissions: Who gains and who loses which permission by that stack.
        new: Findings that the base does not have. `fixes` are those that it has alone.
        promotions: What the change adds to what waits for a promotion to it.
        price_note: How prices.yaml differs, on which all costs depend; "" if it does not.
        notes: What is particular, such as an environment that the base does not have.
        currency: Of all costs.
    """

    name: str
    region: str
    endpoints: tuple[EndpointChange, ...] = ()
    foundation: tuple[Change, ...] = ()
    permissions: tuple[str, ...] = ()
    new: tuple[Finding, ...] = ()
    fixes: tuple[Finding, ...] = ()
    promotions: tuple[PendingPromotion, ...] = ()
    price_note: str = ""
    notes: tuple[str, ...] = ()
    currency: str = CURRENCY

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to review."""
        return not (self._has_effect or self.promotions)

    @property
    def _has_effect(self) -> bool:
        """Whether something is to be reviewed beside what waits for a promotion."""
        return bool(
            self.endpoints or self.foundation or self.new or self.fixes or self.notes or self.price_note
        )

    @cached_property
    def groups(self) -> Sequence[EndpointGroup]:
        """The endpoints, those of which a reviewer reads the same as one."""
        return endpoint_groups(self.endpoints)

    @property
    def money(self) -> MoneyChange:
        """The sums of the differences of its endpoints."""
        return _money_of(self.endpoints)

    @property
    def endpoints_without_cost(self) -> tuple[str, ...]:
        """The endpoints that are not in the totals."""
        return tuple(endpoint.endpoint for endpoint in self.endpoints if not endpoint.has_known_cost)

    def has_certain_prices(self, owner: str | None = None) -> bool:
        """Whether sources state all prices for the region; with a team, or "" for none, those of its own."""
        return all(
            endpoint.certain_price for endpoint in self.endpoints if owner in (None, endpoint.owner or "")
        )

    @property
    def has_computed_costs(self) -> bool:
        """Whether a cost, also of what waits for a promotion, has a computed price in it."""
        return not (
            self.has_certain_prices() and all(promotion.certain_price for promotion in self.promotions)
        )

    @property
    def by_owner(self) -> Mapping[str, MoneyChange]:
        """The same sums by team; "" for endpoints without one."""
        owners = sorted({endpoint.owner or "" for endpoint in self.endpoints})
        return {
            owner: _money_of([endpoint for endpoint in self.endpoints if (endpoint.owner or "") == owner])
            for owner in owners
        }

    @property
    def quotas(self) -> tuple[QuotaChange, ...]:
        """The quotas of the account that these endpoints alone count against."""
        return quota_changes(self.endpoints)

    @property
    def errors(self) -> int:
        """How many new findings refuse a deploy."""
        return sum(finding.severity is Severity.ERROR for finding in self.new)

    @property
    def verdict(self) -> str:
        """One line: what happens, what it costs, whether calls fail, what waits for a promotion."""
        promotion_verdict = [pending_verdict(self.promotions)] * bool(self.promotions)
        return " · ".join([*self._effect(), *promotion_verdict] if self._has_effect else promotion_verdict)

    def _effect(self) -> list[str]:
        if self.price_note and not replace(self, price_note="")._has_effect:
            return ["prices.yaml differs, no endpoint changes"]
        costs = self.money.words(self.currency, certain=self.has_certain_prices())
        parts = [", ".join([*_counts(self.endpoints), *self._shared_stack(), costs])]
        parts[:0] = ["prices.yaml differs"] * bool(self.price_note)
        if self.errors:
            parts.append(f"{count_of(self.errors, 'new error')}: a deploy is refused")
        hit = [endpoint for endpoint in self.endpoints if endpoint.effect.interrupts]
        if hit:
            parts.append(
                f"interrupts {', '.join(change.endpoint for change in hit[:3])}{' …' * (len(hit) > 3)}"
            )
        elif any(endpoint.effect is UpdateEffect.UNKNOWN for endpoint in self.endpoints):
            parts.append("interruption unknown")
        else:
            parts.append("no interruption")
        return parts

    def _shared_stack(self) -> Iterator[str]:
        if self.foundation:
            yield "shared stack changes"


VERBS = {
    UpdateEffect.UNKNOWN: "cannot be compared",
    UpdateEffect.REPLACED: "replaced",
    UpdateEffect.REMOVED: "to be destroyed",
    UpdateEffect.CREATED: "created",
    UpdateEffect.CONFIGURATION: "updated in place",
    UpdateEffect.IN_PLACE: "updated in place",
    UpdateEffect.NOTHING: "without effect in AWS",
}


def _counts(endpoints: Sequence[EndpointChange]) -> Iterator[str]:
    """How many endpoints each thing happens to, the riskiest first."""
    verbs = [VERBS[endpoint.effect] for endpoint in endpoints]
    for verb in dict.fromkeys(VERBS.values()):
        if count := verbs.count(verb):
            yield f"{count_of(count, 'endpoint')} {verb}"
    if not endpoints:
        yield "0 endpoints change"


def _money_of(endpoints: Iterable[EndpointChange]) -> MoneyChange:
    return money_change(
        [(endpoint.min_cost.difference, endpoint.max_cost.difference) for endpoint in endpoints]
    )


def with_renames(
    endpoints: Sequence[EndpointChange], before: Mapping[str, Lock], after: Mapping[str, Lock]
) -> list[EndpointChange]:
    """The same, where a removed endpoint and a created one with an archive of its are known as a rename.

    Args:
        endpoints: What changed in an environment.
        before: The locks of the base, by endpoint.
        after: Those of the change.
    """
    by_name = {endpoint.endpoint: endpoint for endpoint in endpoints}
    new_endpoints = [
        endpoint
        for endpoint in endpoints
        if endpoint.effect is UpdateEffect.CREATED and endpoint.endpoint in after
    ]
    for old_endpoint in endpoints:
        if old_endpoint.effect is not UpdateEffect.REMOVED or old_endpoint.endpoint not in before:
            continue
        digests = {archive.digest for archive in before[old_endpoint.endpoint].archives.values()}
        for new_endpoint in new_endpoints:
            if digests & {archive.digest for archive in after[new_endpoint.endpoint].archives.values()}:
                new_endpoints.remove(new_endpoint)
                text = (
                    f"renaming {old_endpoint.endpoint} to {new_endpoint.endpoint} is a deletion and a"
                    " creation:"
                    f" {LOST_BY_RENAME} are lost; callers have to call {new_endpoint.endpoint}"
                )
                by_name[old_endpoint.endpoint] = replace(
                    old_endpoint, other_name=new_endpoint.endpoint, warnings=(text, *old_endpoint.warnings)
                )
                by_name[new_endpoint.endpoint] = replace(new_endpoint, other_name=old_endpoint.endpoint)
                break
    return sorted(by_name.values(), key=lambda change: change.rank)


@dataclass(frozen=True, kw_only=True)
class QuotaChange:
    """One quota and the endpoints of a change that count against it.

    Attributes:
        quota: Its name in Service Quotas.
        before: Their instances at the most, before.
        after: Their instances at the most, afterwards.
        beside: The largest second fleet that one of them starts on top, while it is updated.
        at_once: How many are updated at one time, as `fleet deploy` does it by default.
        beside_at_once: The largest second fleets of so many together.
    """

    quota: str
    before: int
    after: int
    beside: int
    at_once: int
    beside_at_once: int

    def __str__(self) -> str:
        """The sentence of a report."""
        second = f", and {self.beside_at_once} beside them" if self.beside else ""
        if self.at_once > 1:
            second += f" while {self.at_once} are updated at one time ({self.beside} if one after the other)"
        elif second:
            second += " during an update"
        return f"{self.quota}: {self.before:,} → {self.after:,} at the most{second}"


def quota_changes(endpoints: Sequence[EndpointChange]) -> tuple[QuotaChange, ...]:
    """The quotas of which a change needs another number, by instance type, and that of all types last.

    `fleet deploy` starts as many second fleets at one time as it may, and fewer where a quota has no room.
    """
    limits = [limit for endpoint in endpoints for limit in endpoint.limits if limit is not None]
    types = sorted({name for limit in limits for name in limit.types})
    names = {instance_quota(instance_type): instance_type for instance_type in types} | {
        all_instances_quota(): None
    }
    changes = (_quota_change(name, machine, endpoints) for name, machine in names.items())
    return tuple(
        instance_type
        for instance_type in changes
        if instance_type.beside or instance_type.before != instance_type.after
    )


def _quota_change(quota: str, machine: str | None, endpoints: Sequence[EndpointChange]) -> QuotaChange:
    before, after = (
        sum(
            limit.max_instances
            for endpoint in endpoints
            if (limit := endpoint.limits[side]) and limit.counts(machine)
        )
        for side in (0, 1)
    )
    second = [
        endpoint.need.beside
        for endpoint in endpoints
        if endpoint.need and endpoint.limits[0] and (limit := endpoint.limits[1]) and limit.counts(machine)
    ]
    largest = nlargest(DEFAULT_CONCURRENCY, filter(None, second))
    return QuotaChange(
        quota=quota,
        before=before,
        after=after,
        beside=max(largest, default=0),
        at_once=len(largest),
        beside_at_once=sum(largest),
    )
