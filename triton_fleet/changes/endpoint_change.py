"""A change's effect on one endpoint of one environment: in words, in AWS, to its calls and its costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from triton_fleet.catalog.instances import instance
from triton_fleet.changes.lock_changes import Sizes, builds, content_changes
from triton_fleet.changes.money_change import FREE, CostChange
from triton_fleet.changes.permission_changes import permission_changes
from triton_fleet.changes.spec_changes import KeyChange, spec_changes
from triton_fleet.changes.templates import Change, Template, compare
from triton_fleet.changes.update_effect import (
    UpdateEffect,
    differing_areas,
    replaces_model,
    unsafe_changes,
    update_effect,
)
from triton_fleet.context.capacity import InstanceLimit, instance_limit
from triton_fleet.context.cost import Cost, EndpointCost, fleet_cost
from triton_fleet.context.traffic import InstanceNeed, Traffic, instance_need, update_traffic
from triton_fleet.core.formats import count_of
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.endpoint import EndpointSpec, Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.prices import PriceBook


@dataclass(frozen=True, kw_only=True)
class Revision:
    """One endpoint as one commit has it.

    Attributes:
        root: The fleet's folder, which paths in specs are below.
        loaded_spec: The spec; None where it cannot be read.
        lock: None where there is none, or it cannot be read.
        template: That of its stack; empty where it cannot be synthesised.
        problem: Why it cannot; "" if it can.
        sizes: Bytes of locked files that the commit has, by repository and path.
    """

    root: Path
    environment: Environment
    loaded_spec: LoadedSpec | None
    lock: Lock | None = None
    template: Template = field(default_factory=dict)
    problem: str = ""
    sizes: Mapping[str, Sizes] = field(default_factory=dict)

    @property
    def spec(self) -> EndpointSpec | None:
        """The spec as it holds in the environment."""
        return self.loaded_spec.spec if self.loaded_spec else None

    def cost(self, prices: PriceBook) -> EndpointCost | None:
        """Its costs; None where its spec cannot be read."""
        return (
            fleet_cost(self.environment, [self.loaded_spec.spec], prices).endpoints[0]
            if self.loaded_spec
            else None
        )


@dataclass(frozen=True, kw_only=True)
class EndpointChange:
    """One endpoint that differs between two commits.

    Attributes:
        owner: Its team.
        effect: What a deploy does to it.
        changes: What differs in the spec, in words, the most important first.
        content: What differs in archives and image, in words.
        builds: Engines and images that a publish has to build first.
        new_model: The new configuration has a new Model.
        areas: The parts of the template that differ, in the words of the spec.
        traffic: What happens to calls; None where nothing is moved.
        need: Instances that AWS has to have.
        is_scaled: Whether it scales before and after.
        limits: The most instances before and after; None where a commit does not have the endpoint.
        min_cost: Cost of the fewest instances. `max_cost` is that of the most.
        certain_price: Whether all prices that are known are stated by somebody.
        permissions: Who gains and who loses which permission.
        warnings: What a reviewer has to know before the merge.
        resources: What CloudFormation does.
        other_name: The other name of an endpoint that was renamed; "" else.
        problem: Why a revision cannot be synthesised.
    """

    environment: str
    endpoint: str
    owner: str | None
    effect: UpdateEffect
    changes: tuple[str, ...]
    content: tuple[str, ...]
    builds: tuple[str, ...]
    new_model: bool
    areas: tuple[str, ...]
    traffic: Traffic | None
    need: InstanceNeed | None
    is_scaled: bool
    limits: tuple[InstanceLimit | None, InstanceLimit | None]
    min_cost: CostChange
    max_cost: CostChange
    certain_price: bool
    permissions: tuple[str, ...]
    warnings: tuple[str, ...]
    resources: tuple[Change, ...]
    other_name: str = ""
    problem: str = ""

    @property
    def has_known_cost(self) -> bool:
        """Whether sums have it in them."""
        return self.min_cost.difference is not None and self.max_cost.difference is not None

    @property
    def rank(self) -> tuple[int, bool, Decimal, str]:
        """The place by risk: what interrupts first, then what costs most."""
        difference = self.max_cost.difference
        return (
            self.effect.risk,
            not self.warnings,
            -abs(difference.per_hour) if difference else Decimal(0),
            self.endpoint,
        )

    @property
    def rollback(self) -> str:
        """The command that reverts the change, once it is deployed."""
        if self.effect is UpdateEffect.CREATED:
            return f"fleet destroy --env {self.environment} {self.endpoint}"
        return f"fleet rollback {self.endpoint} --env {self.environment}"


def endpoint_change(
    name: str, before: Revision | None, after: Revision | None, prices: PriceBook
) -> EndpointChange:
    """The change of an endpoint that at least one of two commits has, both at the same prices."""
    revision = after or before
    if revision is None:
        raise ValueError(f"neither commit has {name}")
    problem = "; ".join(side.problem for side in (before, after) if side and side.problem)
    old, new = (side.template if side else {} for side in (before, after))
    resources = tuple(compare(old, new)) if not problem else ()
    effect = _effect(before, after, resources)
    old_spec, new_spec = (side.spec if side else None for side in (before, after))
    moves = effect is UpdateEffect.CONFIGURATION
    keys = _keys(before, after)
    spec = new_spec or old_spec
    return EndpointChange(
        environment=revision.environment.environment,
        endpoint=name,
        owner=spec.owner.team if spec and spec.owner else None,
        effect=effect,
        changes=tuple(_words(keys, old_spec, new_spec)),
        content=tuple(_content(before, after)),
        builds=tuple(builds(before.lock if before else None, after.lock)) if after and after.lock else (),
        new_model=moves and replaces_model(resources),
        areas=differing_areas(old, new) if before and after and not problem else (),
        traffic=update_traffic(new_spec) if moves and new_spec else None,
        need=instance_need(old_spec, new_spec, is_replaced=moves) if new_spec and not problem else None,
        is_scaled=all(side is not None and side.scaling is not None for side in (old_spec, new_spec)),
        limits=(instance_limit(old_spec), instance_limit(new_spec)),
        min_cost=_cost_change((before, after), prices, lambda cost: cost.min_cost),
        max_cost=_cost_change((before, after), prices, lambda cost: cost.max_cost),
        certain_price=not any(
            cost.is_computed for side in (before, after) if side and (cost := side.cost(prices))
        ),
        permissions=permission_changes(old, new) if not problem else (),
        warnings=tuple(_warnings(name, revision.environment.environment, effect, resources, before, after)),
        resources=resources,
        problem=problem,
    )


def _effect(before: Revision | None, after: Revision | None, resources: tuple[Change, ...]) -> UpdateEffect:
    if after is None:
        return UpdateEffect.REMOVED
    if before is None:
        return UpdateEffect.CREATED if not after.problem else UpdateEffect.UNKNOWN
    return UpdateEffect.UNKNOWN if before.problem or after.problem else update_effect(resources)


def _keys(before: Revision | None, after: Revision | None) -> list[KeyChange]:
    if not (before and after and before.loaded_spec and after.loaded_spec):
        return []
    return spec_changes(before.loaded_spec, after.loaded_spec, (before.root, after.root))


MACHINE, RELEASE = ("instance", "type"), ("triton",)


def _words(keys: list[KeyChange], before: EndpointSpec | None, after: EndpointSpec | None) -> Iterator[str]:
    if before is None and after is not None:
        machine = f"{_machine(after.instance.type)} × {after.instance.count}"
        yield f"new: {machine}, Triton {after.triton}, {_models(after)}"
    if after is None and before is not None:
        yield f"deleted: {_machine(before.instance.type)}, Triton {before.triton}, {_models(before)}"
    if before is None or after is None:
        return
    if before.instance.type != after.instance.type:
        yield f"{_machine(before.instance.type)} → {_machine(after.instance.type)}"
    if before.triton != after.triton:
        yield f"Triton {before.triton} → {after.triton}"
    for key in keys:
        if key.path not in (MACHINE, RELEASE):
            yield f"{key.key} {key.values}"


def _machine(name: str) -> str:
    try:
        gpu = instance(name).gpu
    except KeyError:  # a type that the catalog does not have is a finding
        gpu = ""
    return f"{name} ({gpu})" if gpu else name


def _models(spec: EndpointSpec) -> str:
    return count_of(len(spec.packed_archives), "archive")


def _content(before: Revision | None, after: Revision | None) -> Iterator[str]:
    if before and after and before.lock and after.lock:
        yield from content_changes(before.lock, after.lock, (before.sizes, after.sizes))
    elif before is None and after and after.lock:
        yield from content_changes(Lock(endpoint=after.lock.endpoint, archives={}), after.lock)


def _cost_change(
    sides: Sequence[Revision | None], prices: PriceBook, end: Callable[[EndpointCost], Cost | None]
) -> CostChange:
    """The costs of one end of the range, before and after."""
    costs = [side.cost(prices) if side else None for side in sides]
    machines = {
        (cost.machines, side.environment.region)
        for side, cost in zip(sides, costs, strict=True)
        if side and cost
    }
    before, after = (
        FREE if side is None else None if cost is None else end(cost)
        for side, cost in zip(sides, costs, strict=True)
    )
    return CostChange(before=before, after=after, same=None not in costs and len(machines) == 1)


def _warnings(
    name: str,
    environment: str,
    effect: UpdateEffect,
    resources: tuple[Change, ...],
    before: Revision | None,
    after: Revision | None,
) -> Iterator[str]:
    old, new = (old_archive.spec if old_archive else None for old_archive in (before, after))
    if effect is UpdateEffect.REMOVED:
        yield (
            f"a deploy does not delete {name}: it runs and costs money until"
            f" `fleet destroy --env {environment} {name}`; after that, calls to it fail"
        )
    if effect is UpdateEffect.REPLACED:
        yield f"{name} is replaced: calls fail until the new endpoint is in service"
    for unsafe_change in unsafe_changes(resources) if before and after else ():
        yield f"CloudFormation refuses this, or may delete something: {unsafe_change}"
    if not (old and new):
        return
    if old.mode is not new.mode:
        yield f"callers of {name} have to change: mode {old.mode.value} → {new.mode.value}"
    elif new.mode is Mode.MULTI_MODEL:
        removed_names = [
            old_archive.name
            for old_archive in old.packed_archives
            if old_archive.name not in {new_archive.name for new_archive in new.packed_archives}
        ]
        if removed_names:
            yield f"calls to removed targets will fail: {', '.join(removed_names)}"
    if effect is UpdateEffect.CONFIGURATION and new.rollout is None:
        yield f"no alarm rolls {name} back: the spec has no `rollout`"
