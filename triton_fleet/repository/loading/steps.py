"""The steps of an ensemble: the models and versions that they name, and pairs that would never finish.

Source: triton-inference-server/core, r26.06, src/model_repository_manager/model_repository_manager.cc,
ConnectDependencyGraph and CheckNode.
"""

from __future__ import annotations

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
    missing = sorted(name for name in steps_of(config) if name and name not in models)
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        if step.model_name in missing:
            names = ", ".join(missing)
            message = f"ensemble {config.name} contains models that are not available or ambiguous: {names}"
            there = ", ".join(sorted(name for name in models if name != config.directory)) or "no other model"
            yield config.finding(
                CODE, message, *STEP, index, "model_name", hint=f"the repository has {there}"
            )
            return


def missing_versions(config: ParsedConfig, versions: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Steps that ask for a version which is not loaded; `versions` are the loaded ones of each model."""
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        there, wanted = versions.get(step.model_name), step.model_version
        if there and wanted != LATEST and str(wanted) not in there:
            message = (
                f"ensemble '{config.name}' depends on '{step.model_name}' whose required version {wanted} is"
                " not loaded."
            )
            hint = f"write `model_version: -1`; {step.model_name} has {', '.join(there)}"
            yield config.finding(CODE, message, *STEP, index, "model_version", hint=hint)


def decoupled_branches(config: ParsedConfig, configs: Mapping[str, ParsedConfig]) -> Iterator[Finding]:
    """Steps of an ensemble whose inputs originate from different decoupled models."""
    steps = list(config.message.ensemble_scheduling.step)
    labels, waiting, numbers = (
        {each.name: 0 for each in config.message.input},
        dict(enumerate(steps)),
        count(1),
    )
    while ready := [
        index for index, step in waiting.items() if set(step.input_map.values()) <= labels.keys()
    ]:
        for index in ready:
            step = waiting.pop(index)
            origins = {labels[name] for name in step.input_map.values()}
            model = configs.get(step.model_name)
            if len(origins) > 1:
                yield _refusal(config, index, step.model_name)
            label = min(origins, default=0)
            if model is not None and model.message.model_transaction_policy.decoupled:
                label = next(numbers)
            labels |= dict.fromkeys(step.output_map.values(), label)
    if len({labels[each.name] for each in config.message.output if each.name in labels}) > 1:
        yield _refusal(config, None, config.name)


def _refusal(config: ParsedConfig, index: int | None, model: str) -> Finding:
    message = (
        f"in ensemble {config.name}, step of model '{model}' receives inputs originated from different"
        " decoupled models"
    )
    place = ("output",) if index is None else ("ensemble_scheduling", "step", index)
    hint = "only one of the models that lead to a step, or to the outputs, may answer in several parts"
    return config.finding("FL433", message, *place, hint=hint)
