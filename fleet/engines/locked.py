"""What a lock holds of the engines that a spec asks for."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.decide.decided import Decided
from fleet.engines.planned import PlannedEngine
from fleet.repository.copies import copied_name
from fleet.spec.lock import LockedEngine


def locked_engines(endpoint: Decided, planned: PlannedEngine) -> Iterator[tuple[str, LockedEngine | None]]:
    """The archives that get an engine, each with what the lock says of it; None where it says nothing."""
    for each in endpoint.spec.models[planned.index].packed(planned.index):
        if each.name in endpoint.locked:
            model = planned.model if each.copy is None else copied_name(planned.model, each.copy)
            yield each.name, endpoint.locked[each.name].engines.get(model)


def locked_engine(endpoint: Decided, planned: PlannedEngine) -> LockedEngine | None:
    """What the lock says of an engine: all copies of a repository share it."""
    return next((locked for _, locked in locked_engines(endpoint, planned) if locked is not None), None)
