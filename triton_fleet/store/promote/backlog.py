"""The changes that main and the environment before have, and an environment that is promoted to has not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from triton_fleet.changes.lock_changes import content_changes
from triton_fleet.changes.money_change import FREE, CostChange
from triton_fleet.changes.pending_promotion import UNKNOWN_COST, PendingPromotion, PromotionState, machines_of
from triton_fleet.changes.spec_changes import KeyChange, is_written_alike, spec_changes
from triton_fleet.context.cost import fleet_cost
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.layers import merged_source
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.prices import PriceBook
from triton_fleet.store.promote.spec import previewed_spec

OF_PROMOTION = (b"promoted_from:", b"product:", b"template:", b"inputs:")
"""The keys of a lock that record its promotion; the others are what runs."""


@dataclass(frozen=True)
class PromotionPreview:
    """An endpoint as a promotion would make it; without a lock, nothing of its models is known yet."""

    loaded_spec: LoadedSpec
    lock: Lock | None


class PromotionPreviews:
    """Each endpoint of main as an environment that is promoted to would have it.

    In a chain of environments, that is not yet what the one before it runs.
    """

    def __init__(self, target: Project, prices: PriceBook | None = None) -> None:
        """Read nothing yet; the prices are those of the fleet by default.

        Raises:
            FindingsError: the environment is not promoted to, or one of those before it is wrong.
        """
        name = target.environment.environment
        if not target.is_promoted:
            message = (
                f"{name} has no `promoted_from`: it follows the specs, and nothing waits for a promotion"
            )
            hint = "name an environment that has `promoted_from`"
            raise FindingsError([Finding(code="FL515", message=message, hint=hint)])
        self._target, self._main = target, target.following_main
        self._prices = prices or target.fleet.prices
        self._environments = (*reversed(target.origins), target)
        self._roots = (target.root, target.root)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The endpoints that the environment has, and those that a promotion may bring."""
        return tuple(sorted({*self._target.spec_files, *self._target.unpromoted_names}))

    def preview(self, name: str) -> PromotionPreview | None:
        """An endpoint as main has it; None if it has none.

        Its lock is that of the environment that follows main, else of one that is nearer, else its own.

        Raises:
            FindingsError: the spec is wrong.
        """
        if name not in self._main.spec_files or name in self._target.absent_in_main:
            return None
        locks = filter(None, (environment.readable_lock(name) for environment in self._environments))
        return PromotionPreview(self._main.load(name), next(locks, None))

    def promotion(self, name: str) -> PendingPromotion | None:
        """The change that a promotion of main would make to an endpoint; None if it is none."""
        target, environment = self._target, self._target.environment.environment
        state = PromotionState.NEW if name in target.unpromoted_names else PromotionState.CHANGED
        try:
            present = None if state is PromotionState.NEW else target.load(name)
            if present and self._has_same_files(name, present):
                return None
            preview = self.preview(name)
            if preview is None:
                state = PromotionState.REMOVED
                return PendingPromotion(endpoint=name, environment=environment, state=state)
        except FindingsError as error:
            problem = error.findings[0].message
            return PendingPromotion(
                endpoint=name,
                environment=environment,
                state=state,
                min_cost=UNKNOWN_COST,
                max_cost=UNKNOWN_COST,
                problem=problem,
            )
        changes = spec_changes(present, preview.loaded_spec, self._roots) if present else []
        own = target.readable_lock(name)
        content = content_changes(own, preview.lock) if own and preview.lock else ()
        promotion = PendingPromotion(
            endpoint=name,
            environment=environment,
            state=state,
            changes=tuple(changes),
            content=tuple(content),
            owner=owner.team if (owner := preview.loaded_spec.spec.owner) else None,
        )
        return (
            self._with_cost(promotion, present, preview.loaded_spec)
            if promotion.words or not present
            else None
        )

    def _has_same_files(self, name: str, present: LoadedSpec) -> bool:
        """Whether spec and lock have main's text, so that nothing can wait: most endpoints need no more."""
        main, target = self._main, self._target
        if name not in main.spec_files or name in target.absent_in_main:
            return False
        spec = main.fleet.source(main.spec_files[name])
        own, locks = (
            target.lock_file(name),
            (environment.lock_file(name) for environment in self._environments),
        )
        lock = next((lock for lock in locks if lock.is_file()), own)
        is_same_lock = lock == own or not own.is_file() or _content_lines(lock) == _content_lines(own)
        return is_same_lock and is_written_alike(
            present.source, merged_source(spec, main.layering.layers(spec))
        )

    def _with_cost(
        self, promotion: PendingPromotion, present: LoadedSpec | None, loaded_spec: LoadedSpec
    ) -> PendingPromotion:
        """The same with what the endpoint costs in the environment, and would cost by main."""
        specs = [either_spec.spec for either_spec in (present, loaded_spec) if either_spec]
        costs = fleet_cost(self._target.environment, specs, self._prices).endpoints
        old, new = costs[0], costs[-1]
        same = bool(present) and old.machines == new.machines
        return replace(
            promotion,
            machines="" if present else machines_of(loaded_spec.spec, new.min_instances, new.max_instances),
            min_cost=CostChange(before=old.min_cost if present else FREE, after=new.min_cost, same=same),
            max_cost=CostChange(before=old.max_cost if present else FREE, after=new.max_cost, same=same),
            certain_price=all(cost.certain for cost in costs if cost.price),
            currency=self._prices.currency,
        )


def _content_lines(lock: Path) -> list[bytes]:
    """The lines of a lock without what a promotion writes of the environment."""
    return [line for line in lock.read_bytes().splitlines() if not line.startswith(OF_PROMOTION)]


@dataclass(frozen=True, kw_only=True)
class BacklogEntry:
    """One endpoint whose promotion would change something, and where the change is by now.

    Attributes:
        name: The endpoint.
        state: What a promotion is to the endpoint: `new`, `changed`, or `removed` if main no longer has it.
        spec: Keys that differ from main, each with the environment's value and main's.
        tested: Keys that differ from the environment before, where that does not follow main itself.
        content: Archives, engines and images that differ from the environment before, in words.
        promotable: Whether a promotion now would change something.
        problem: Why one of the files cannot be compared; "" if all can.
    """

    name: str
    state: str
    spec: tuple[KeyChange, ...] = ()
    tested: tuple[KeyChange, ...] = ()
    content: tuple[str, ...] = ()
    promotable: bool = False
    problem: str = ""


def backlog(target: Project, promotions: Mapping[str, PendingPromotion]) -> list[BacklogEntry]:
    """The endpoints that differ from main or from the environment before, by name.

    Args:
        target: An environment that is promoted to.
        promotions: What waits for a promotion to it, by endpoint.

    Raises:
        FindingsError: the environment before it is wrong.
    """
    origin = target.origins[0]
    names = sorted({*target.endpoints, *target.unpromoted_names})
    entries = (_entry(name, target, origin, promotions.get(name)) for name in names)
    return [entry for entry in entries if entry is not None]


def _entry(
    name: str, target: Project, origin: Project, promotion: PendingPromotion | None
) -> BacklogEntry | None:
    if name in target.unpromoted_names:
        is_there = name in origin.spec_files and origin.lock_file(name).is_file()
        presence = f"it {'is in' if is_there else 'has no lock in'} {origin.environment.environment}"
        return BacklogEntry(name=name, state="new", content=(presence,), promotable=is_there)
    if promotion is not None and promotion.state is PromotionState.REMOVED:
        return BacklogEntry(name=name, state="removed")
    try:
        theirs = origin.lock(name) if origin.lock_file(name).is_file() else None
        content = tuple(content_changes(target.lock(name), theirs)) if theirs else ()
        origin_changes = _changes(name, target, origin)
    except FindingsError as error:
        return BacklogEntry(name=name, state="changed", problem=error.findings[0].message)
    if promotion is not None and promotion.problem:
        return BacklogEntry(name=name, state="changed", problem=promotion.problem)
    promotable = theirs is not None and bool(origin_changes or content)
    if not origin.is_promoted:  # it follows main
        origin_changes = ()
    of_main = tuple(
        change for change in (promotion.changes if promotion else ()) if change not in origin_changes
    )
    if not (promotion or origin_changes or content):
        return None
    return BacklogEntry(
        name=name,
        state="changed",
        spec=of_main,
        tested=origin_changes,
        content=content,
        promotable=promotable,
    )


def _changes(name: str, target: Project, origin: Project) -> tuple[KeyChange, ...]:
    """The keys that the spec of the environment before would change; none without one."""
    if name not in origin.spec_files:
        return ()
    roots = (target.root, target.root)
    return tuple(spec_changes(target.load(name), previewed_spec(origin, target, name), roots))
