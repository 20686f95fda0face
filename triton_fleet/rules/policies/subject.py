"""An endpoint as policies look at it: where it may run, on how many instances, for how much."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from triton_fleet.catalog.prices import Price
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.cost import Cost
from triton_fleet.context.machines import OWN_VARIANT, POOLS, VARIANTS, Machine
from triton_fleet.context.raw import RawProperty, computes, properties_at
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.source import KeyPath

COUNTS = ("InitialInstanceCount", "ManagedInstanceScaling.MaxInstanceCount")
"""Properties of a variant by which it gets instances."""
TYPE = "InstanceType"


@dataclass(frozen=True, kw_only=True)
class InstanceCount:
    """How many instances a variant may come to by one key; `label` is the raw property, "" for the spec's."""

    variant: str
    number: int
    path: KeyPath
    label: str = ""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """The cost of the most instances of an endpoint.

    Attributes:
        cost: Of the instances whose price is known.
        parts: The instances, such as `20 × ml.g5.xlarge`.
        price: An hour of one instance of the spec's own variant; 0 if it is unknown.
        path: The key that leads to the largest part of it.
        unpriced_machines: The instance types whose price is unknown.
        is_computed: A part of the cost is of a price that is computed.
    """

    cost: Cost
    parts: tuple[str, ...]
    price: Decimal
    path: KeyPath
    unpriced_machines: tuple[Machine, ...]
    is_computed: bool


@dataclass(frozen=True)
class Subject:
    """One endpoint's spec as it holds in an environment; its lock need not exist."""

    loaded_spec: LoadedSpec
    project: Project
    given_lock: Lock | None = None
    """A lock in place of the one that the environment has."""

    @property
    def name(self) -> str:
        """The endpoint."""
        return self.loaded_spec.spec.endpoint

    @property
    def team(self) -> str | None:
        """The team of its owner."""
        owner = self.loaded_spec.spec.owner
        return owner.team if owner else None

    @property
    def lock_command(self) -> str:
        """The command that writes its lock, in backquotes."""
        return self.project.environment.lock_command(self.name)

    @cached_property
    def context(self) -> EndpointContext:
        """The endpoint as rules look at it, without its lock."""
        return EndpointContext(loaded_spec=self.loaded_spec, environment=self.project.environment, lock=None)

    @cached_property
    def machines(self) -> tuple[Machine, ...]:
        """The instance types that it may run on, those of instance pools and shadow variants among them."""
        return self.context.machines

    @cached_property
    def counts(self) -> tuple[InstanceCount, ...]:
        """Every key by which a variant gets instances, those of schedules and raw properties among them."""
        return tuple(self._counts())

    def _counts(self) -> Iterator[InstanceCount]:
        spec = self.loaded_spec.spec
        numbers: dict[KeyPath, int] = {("instance", "count"): spec.instance.count}
        numbers |= spec.scaling.ceilings if spec.scaling else {}
        for path, number in numbers.items():
            yield InstanceCount(variant=OWN_VARIANT, number=number, path=path)
        for variant, raws in self.context.raw_variants.items():
            for raw in filter(None, (raws.get(tuple(count.split("."))) for count in COUNTS)):
                whole_number = _whole_number(raw.value)
                if whole_number is not None:
                    yield InstanceCount(variant=variant, number=whole_number, path=raw.path, label=raw.name)

    @cached_property
    def computed_types(self) -> tuple[RawProperty, ...]:
        """Raw properties with an instance type that is not written out."""
        return tuple(self._computed_properties(TYPE, f"{POOLS}.*.{TYPE}"))

    @cached_property
    def computed_counts(self) -> tuple[RawProperty, ...]:
        """Raw properties with a number of instances that is not written out."""
        return tuple(self._computed_properties(*COUNTS))

    def _computed_properties(self, *names: str) -> Iterator[RawProperty]:
        """Those below names of a variant that CloudFormation computes, or that no policy can read."""
        properties = dict[KeyPath, RawProperty]()
        for path in (f"{variants}.*.{name}" for variants in VARIANTS for name in names):
            for raw in properties_at(self.loaded_spec.spec, "EndpointConfig", path):
                if computes(raw) or not _is_readable(raw):
                    properties.setdefault(raw.path, raw)
        yield from properties.values()

    @cached_property
    def lock(self) -> Lock | None:
        """The content of its lock; None where it has none that can be read."""
        return self.given_lock or self.project.readable_lock(self.name)

    @cached_property
    def locked_context(self) -> EndpointContext:
        """The endpoint as rules look at it, with its lock."""
        return EndpointContext(
            loaded_spec=self.loaded_spec, environment=self.project.environment, lock=self.lock
        )

    @property
    def image_release(self) -> str | None:
        """Triton's release in an image of one's own; None where its lock does not know it."""
        image = self.lock.image if self.lock else None
        return image.contents.triton if image and image.contents else None

    def raw_properties(self, resource: str, *paths: str) -> Iterable[RawProperty]:
        """The raw properties that decide the values at some paths of the template, each once."""
        properties = (next(properties_at(self.loaded_spec.spec, resource, path), None) for path in paths)
        return {raw.path: raw for raw in properties if raw}.values()

    @cached_property
    def max_count(self) -> InstanceCount:
        """The key that leads to the most instances of the spec's own variant."""
        return max(
            (count for count in self.counts if count.variant == OWN_VARIANT),
            key=lambda instance_count: instance_count.number,
        )

    @cached_property
    def spending(self) -> Spending:
        """Its cost at the most: each variant on the most expensive of its instance types."""
        variants = dict[str, list[Machine]]()
        for machine in self.machines:
            variants.setdefault(machine.variant, []).append(machine)
        prices, parts, types, own = dict[KeyPath, Decimal](), list[str](), list[str](), Decimal(0)
        for variant, machines in variants.items():
            number = max((count.number for count in self.counts if count.variant == variant), default=1)
            dearest = max(machines, key=lambda machine_of_pool: self._price_per_hour(machine_of_pool.type))
            price = self._price_per_hour(dearest.type)
            is_own_type = dearest.path == ("instance", "type")
            prices[self.max_count.path if is_own_type else dearest.path] = number * price
            parts.append(f"{number} × {dearest.type}")
            types.append(dearest.type)
            own = price if variant == OWN_VARIANT else own
        return Spending(
            cost=Cost(per_hour=sum(prices.values(), Decimal(0))),
            parts=tuple(parts),
            price=own,
            path=max(prices, key=lambda path: prices[path]),
            unpriced_machines=tuple(
                machine for machine in self.machines if self._price(machine.type) is None
            ),
            is_computed=any(price and not price.certain for price in map(self._price, types)),
        )

    def _price(self, instance_type: str) -> Price | None:
        return self.project.fleet.prices.price(instance_type, self.project.environment.region)

    def _price_per_hour(self, instance_type: str) -> Decimal:
        price = self._price(instance_type)
        return Decimal(0) if price is None else price.per_hour


def _is_readable(raw: RawProperty) -> bool:
    """Whether a limit can be compared with the value."""
    if any(raw.parts[-len(parts) :] == parts for parts in (tuple(count.split(".")) for count in COUNTS)):
        return raw.value is None or _whole_number(raw.value) is not None
    return raw.parts[-1] != TYPE or raw.value is None or isinstance(raw.value, str)


def _whole_number(value: object) -> int | None:
    """A number of instances, which CloudFormation takes as text too."""
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
