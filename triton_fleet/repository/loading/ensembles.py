"""The steps of an ensemble: models and versions that they name, pairs that never finish, and circles.

Source: triton-inference-server/core, r26.06, src/model_repository_manager/model_repository_manager.cc,
ConnectDependencyGraph, CheckNode and CircularDependencyCheck.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig

CODE = "FL435"
STEP = ("ensemble_scheduling", "step")
LATEST = -1


def steps_of(config: ParsedConfig) -> list[str]:
    """The composing models, each once, in the order of the steps."""
    return list(dict.fromkeys(step.model_name for step in config.message.ensemble_scheduling.step))


def missing_models(config: ParsedConfig, models: Collection[str]) -> Iterator[Finding]:
    """Composing models that the repository does not have."""
    absent_models = sorted(name for name in steps_of(config) if name and name not in models)
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        if step.model_name in absent_models:
            names = ", ".join(absent_models)
            message = f"ensemble {config.name} contains models that are not available or ambiguous: {names}"
            other_names = (
                ", ".join(sorted(name for name in models if name != config.directory)) or "no other model"
            )
            yield config.finding(
                CODE, message, *STEP, index, "model_name", hint=f"the repository has {other_names}"
            )
            return


def missing_versions(config: ParsedConfig, versions: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Steps that ask for a version which is not loaded; `versions` are the loaded ones of each model."""
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        loaded_numbers, version = versions.get(step.model_name), step.model_version
        if loaded_numbers and version != LATEST and str(version) not in loaded_numbers:
            message = (
                f"ensemble '{config.name}' depends on '{step.model_name}' whose required version {version} is"
                " not loaded."
            )
            hint = f"write `model_version: -1`; {step.model_name} has {', '.join(loaded_numbers)}"
            yield config.finding(CODE, message, *STEP, index, "model_version", hint=hint)


def decoupled_branches(config: ParsedConfig, configs: Mapping[str, ParsedConfig]) -> Iterator[Finding]:
    """Steps of an ensemble whose inputs originate from different decoupled models."""
    steps = list(config.message.ensemble_scheduling.step)
    labels, open_steps, numbers = (
        {tensor.name: 0 for tensor in config.message.input},
        dict(enumerate(steps)),
        count(1),
    )
    while ready := [
        index for index, step in open_steps.items() if set(step.input_map.values()) <= labels.keys()
    ]:
        for index in ready:
            step = open_steps.pop(index)
            origins = {labels[name] for name in step.input_map.values()}
            model = configs.get(step.model_name)
            if len(origins) > 1:
                yield _refusal(config, index, step.model_name)
            label = min(origins, default=0)
            if model is not None and model.message.model_transaction_policy.decoupled:
                label = next(numbers)
            labels |= dict.fromkeys(step.output_map.values(), label)
    if len({labels[tensor.name] for tensor in config.message.output if tensor.name in labels}) > 1:
        yield _refusal(config, None, config.name)


def _refusal(config: ParsedConfig, index: int | None, model: str) -> Finding:
    message = (
        f"in ensemble {config.name}, step of model '{model}' receives inputs originated from different"
        " decoupled models"
    )
    place = ("output",) if index is None else ("ensemble_scheduling", "step", index)
    hint = "only one of the models that lead to a step, or to the outputs, may answer in several parts"
    return config.finding("FL433", message, *place, hint=hint)


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
    counts = {name: len(callees) for name, callees in steps.items()}
    callers: dict[str, list[str]] = {name: [] for name in steps}
    for name, callees in steps.items():
        for callee in callees:
            callers[callee].append(name)
    queue = deque(name for name, count in counts.items() if not count)
    while queue:
        name = queue.popleft()
        del counts[name]
        for caller in callers[name]:
            counts[caller] -= 1
            if not counts[caller]:
                queue.append(caller)
    return set(counts)


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
