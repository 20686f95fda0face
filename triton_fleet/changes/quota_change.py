"""What a change of endpoints asks of the quotas that their instances count against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

from triton_fleet.catalog.limits import all_instances_quota, instance_quota
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.context.capacity import DEFAULT_CONCURRENCY


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
        """What it comes to, in words."""
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
    names = {instance_quota(each): each for each in types} | {all_instances_quota(): None}
    changes = (_quota_change(name, machine, endpoints) for name, machine in names.items())
    return tuple(each for each in changes if each.beside or each.before != each.after)


def _quota_change(quota: str, machine: str | None, endpoints: Sequence[EndpointChange]) -> QuotaChange:
    before, after = (
        sum(
            limit.most for endpoint in endpoints if (limit := endpoint.limits[side]) and limit.counts(machine)
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
