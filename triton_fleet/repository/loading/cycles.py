"""Ensembles that wait for themselves.

Source: triton-inference-server/core, r26.06, src/model_repository_manager/model_repository_manager.cc,
CircularDependencyCheck.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.loading.steps import STEP, steps_of

MAX_NAMES = 10
"""The most circles that are reported for a repository."""


def circles(configs: Mapping[str, ParsedConfig]) -> Iterator[Finding]:
    """The first ensembles whose steps lead back to them, with the shortest way."""
    steps = {name: [step for step in steps_of(config) if step in configs] for name, config in configs.items()}
    count = 0
    for name in sorted(_in_circles(steps)):
        if count == MAX_NAMES:
            return
        if way := _way_back(name, steps):
            count += 1
            yield _circle(name, configs[name], way)


def _circle(name: str, config: ParsedConfig, way: Sequence[str]) -> Finding:
    message = f"circular dependency between ensembles: {name} -> ... -> {way[-1]} -> {name}"
    after = way[1] if len(way) > 1 else name
    index = next(
        number
        for number, step in enumerate(config.message.ensemble_scheduling.step)
        if step.model_name == after
    )
    hint = f"the steps lead {' -> '.join((*way, name))}"
    return config.finding("FL434", message, *STEP, index, "model_name", hint=hint)


def _in_circles(steps: Mapping[str, Sequence[str]]) -> set[str]:
    """The ensembles that are left when those whose steps all end are taken away, again and again."""
    waiting = {name: len(called) for name, called in steps.items()}
    callers: dict[str, list[str]] = {name: [] for name in steps}
    for name, called in steps.items():
        for each in called:
            callers[each].append(name)
    ended = deque(name for name, count in waiting.items() if not count)
    while ended:
        name = ended.popleft()
        del waiting[name]
        for caller in callers[name]:
            waiting[caller] -= 1
            if not waiting[caller]:
                ended.append(caller)
    return set(waiting)


def _way_back(start: str, steps: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """The models from `start` on whose steps lead back to it; nothing if it only leads into a circle."""
    before, queue = dict[str, str](), deque([start])
    while queue:
        name = queue.popleft()
        for step in steps[name]:
            if step == start:
                way = [name]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return tuple(reversed(way))
            if step not in before:
                before[step] = name
                queue.append(step)
    return ()
