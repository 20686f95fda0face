"""The instances that a fleet may come to: at rest, and while its endpoints are updated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from triton_fleet.context.machines import own_machines
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.rollout import Strategy
from triton_fleet.spec.source import KeyPath

DEFAULT_CONCURRENCY = 4
"""Endpoints that `fleet deploy` updates at one time."""


@dataclass(frozen=True, kw_only=True)
class InstanceLimit:
    """The most instances that an endpoint may come to.

    Instances of a variant with instance pools may be of any of their types, and SageMaker checks the quota of
    each when it creates or updates the endpoint. How many instances it counts is not documented: here all of
    them count against each quota.

    Attributes:
        types: The instance types that its new instances may be of: its spec's, then those of further pools.
        max_instances: Their number.
    """

    types: tuple[str, ...]
    max_instances: int

    def counts(self, instance_type: str | None) -> bool:
        """Whether its new instances count against the quota of a type; None stands for that of all types."""
        return instance_type in (None, *self.types)


@dataclass(frozen=True, kw_only=True)
class Capacity(InstanceLimit):
    """One endpoint's instances.

    Attributes:
        endpoint: Its name.
        first: The number with which its spec begins.
        key: The key of the spec that sets `max_instances`.
        is_scaled: An update starts as many new instances as run, whatever the spec begins with.
        batch: With a rolling rollout the share of instances that is replaced at a time, in percent; None
            where a whole second fleet is started.
        running_counts: What runs now, by instance type; empty where nothing is deployed.
    """

    endpoint: str
    first: int
    key: KeyPath
    is_scaled: bool
    batch: float | None
    running_counts: Mapping[str, int]

    def falls_back_to(self, instance_type: str | None) -> bool:
        """Whether its instances are of a type only where AWS has no capacity for the types before it."""
        return instance_type in self.types[1:]

    def runs(self, instance_type: str | None) -> int:
        """How many instances of a type run now."""
        return sum(count for name, count in self.running_counts.items() if instance_type in (None, name))

    @property
    def start_count(self) -> int:
        """How many instances the next deploy starts: an update of a scaled variant keeps their number."""
        return sum(self.running_counts.values()) if self.is_scaled and self.running_counts else self.first

    def beside(self, count: int) -> int:
        """How many instances an update of `count` of them needs beside those."""
        return count if self.batch is None else ceil(count * self.batch / 100)

    @property
    def added_count(self) -> int:
        """How many instances the next deploy needs beside those that run; all of them for another type."""
        moves = not self.running_counts or not set(self.running_counts) <= set(self.types)
        return self.start_count if moves else self.beside(self.start_count)

    def growth(self, instance_type: str | None) -> int:
        """How many more instances of a type run after the next deploy; negative if they become fewer."""
        return (self.start_count if self.counts(instance_type) else 0) - self.runs(instance_type)


@dataclass(frozen=True, kw_only=True)
class Demand:
    """How many instances may count against one quota at a time.

    Attributes:
        foreign_count: Those of endpoints that are not deployed here.
        rest: All endpoints at their most, and the others.
        deploy: The most while the endpoints are deployed, from what runs now.
        update: The most while any one endpoint is updated and all are at their most.
    """

    foreign_count: int
    rest: int
    deploy: int
    update: int


def capacity(spec: EndpointSpec, running_counts: Mapping[str, int]) -> Capacity:
    """The instances of an endpoint, of which `running_counts` exist already, by their type."""
    max_instances, key = most_instances(spec)
    rollout = spec.rollout
    is_rolling = rollout is not None and rollout.strategy is Strategy.ROLLING
    return Capacity(
        endpoint=spec.endpoint,
        types=instance_types(spec),
        first=spec.instance.count,
        max_instances=max_instances,
        key=key,
        is_scaled=spec.scaling is not None,
        batch=rollout.step if rollout is not None and is_rolling else None,
        running_counts=running_counts,
    )


def instance_limit(spec: EndpointSpec | None) -> InstanceLimit | None:
    """The most instances of a spec; None without one."""
    return (
        None
        if spec is None
        else InstanceLimit(types=instance_types(spec), max_instances=most_instances(spec)[0])
    )


def instance_types(spec: EndpointSpec) -> tuple[str, ...]:
    """The types that the instances of an endpoint may be of: its own, then those of further pools."""
    return tuple(dict.fromkeys(machine.type for machine in own_machines(spec)))


def least_instances(spec: EndpointSpec) -> int:
    """The fewest instances that an endpoint may come to."""
    return spec.instance.count if spec.scaling is None else min(spec.scaling.floors.values())


def most_instances(spec: EndpointSpec) -> tuple[int, KeyPath]:
    """The most instances that an endpoint may come to, and the key that sets it."""
    ceilings = spec.scaling.ceilings if spec.scaling is not None else {}
    counts: dict[KeyPath, int] = {("instance", "count"): spec.instance.count, **ceilings}
    key = max(counts, key=lambda region_key: counts[region_key])
    return counts[key], key


def demand(endpoints: Sequence[Capacity], foreign_count: int, instance_type: str | None = None) -> Demand:
    """The instances that count against the quota of an instance type, or against that of all types together.

    One second fleet exists at a time: `fleet deploy` starts more only as far as the quota has room.
    """
    instances = foreign_count + sum(endpoint.runs(instance_type) for endpoint in endpoints)
    rest = foreign_count + sum(
        endpoint.max_instances for endpoint in endpoints if endpoint.counts(instance_type)
    )
    highest, second = instances, 0
    for endpoint in endpoints:
        if endpoint.counts(instance_type):
            highest = max(highest, instances + endpoint.added_count)
            second = max(second, endpoint.beside(endpoint.max_instances))
        instances += endpoint.growth(instance_type)
        highest = max(highest, instances)
    return Demand(foreign_count=foreign_count, rest=rest, deploy=highest, update=rest + second)
