"""Steps that would wait for the answers of two models which answer as often as they like.

Source: triton-inference-server/core, r26.06, src/ensemble_scheduler/ensemble_utils.cc,
ValidateEnsembleConfig.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count

from fleet.findings import Finding
from fleet.repository.config.message import ParsedConfig


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
                yield _refused(config, index, step.model_name)
            label = min(origins, default=0)
            if model is not None and model.message.model_transaction_policy.decoupled:
                label = next(numbers)
            labels |= dict.fromkeys(step.output_map.values(), label)
    if len({labels[each.name] for each in config.message.output if each.name in labels}) > 1:
        yield _refused(config, None, config.name)


def _refused(config: ParsedConfig, index: int | None, model: str) -> Finding:
    said = (
        f"in ensemble {config.name}, step of model '{model}' receives inputs originated from different"
        " decoupled models"
    )
    place = ("output",) if index is None else ("ensemble_scheduling", "step", index)
    hint = "only one of the models that lead to a step, or to the outputs, may answer in several parts"
    return config.finding("FL433", said, *place, hint=hint)
