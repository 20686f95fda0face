"""Ensembles held against their composing models: names, data types, shapes and batch sizes.

Source: triton-inference-server/core, r26.06, src/ensemble_scheduler/ensemble_utils.cc,
ValidateEnsembleConfig, ValidateTensorMapping and ValidateTensorConsistency;
src/model_repository_manager/model_repository_manager.cc, ConnectDependencyGraph,
CircularDependencyCheck and CheckNode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fleet.findings import Finding
from fleet.repository.config.parsed import ParsedConfig
from fleet.repository.judged.tensors_of import Tensor, consistent, shown

CODE = "FL433"
STEP = ("ensemble_scheduling", "step")
LATEST = -1


def steps_of(config: ParsedConfig) -> list[str]:
    """The composing models, each once, in the order of the steps."""
    return list(dict.fromkeys(step.model_name for step in config.message.ensemble_scheduling.step))


def missing_models(config: ParsedConfig, models: Mapping[str, Any]) -> Iterator[Finding]:
    """Composing models that the repository does not have."""
    missing = sorted(name for name in steps_of(config) if name and name not in models)
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        if step.model_name in missing:
            said = (
                f"ensemble {config.name} contains models that are not available or ambiguous:"
                f" {', '.join(missing)}"
            )
            there = ", ".join(sorted(name for name in models if name != config.directory)) or "no other model"
            hint = f"the repository has {there}"
            yield config.finding("FL435", said, *STEP, index, "model_name", hint=hint)
            return


def missing_versions(config: ParsedConfig, versions: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """Steps that ask for a version which is not loaded; `versions` are the loaded ones of each model."""
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        there, wanted = versions.get(step.model_name), step.model_version
        if there and wanted != LATEST and str(wanted) not in there:
            said = (
                f"ensemble '{config.name}' depends on '{step.model_name}' whose required version {wanted}"
                " is not loaded."
            )
            hint = f"write `model_version: -1`; {step.model_name} has {', '.join(there)}"
            yield config.finding("FL435", said, *STEP, index, "model_version", hint=hint)


def circles(configs: Mapping[str, ParsedConfig]) -> Iterator[Finding]:
    """Ensembles that wait for themselves."""
    for name, config in configs.items():
        ring = _way_back(name, name, configs, ())
        if ring:
            said = f"circular dependency between ensembles: {name} -> ... -> {ring[-1]} -> {name}"
            hint = f"the steps lead {' -> '.join((name, *ring[1:], name))}"
            index = next(
                number
                for number, step in enumerate(config.message.ensemble_scheduling.step)
                if step.model_name == (ring[1] if len(ring) > 1 else name)
            )
            yield config.finding("FL434", said, *STEP, index, "model_name", hint=hint)


def _way_back(
    start: str, at: str, configs: Mapping[str, ParsedConfig], passed: Sequence[str]
) -> tuple[str, ...]:
    """The models from `start` on whose steps lead back to it; nothing if none do."""
    if at not in configs or at in passed:
        return ()
    way = (*passed, at)
    for step in steps_of(configs[at]):
        if step == start:
            return way
        if found := _way_back(start, step, configs, way):
            return found
    return ()


def mappings(config: ParsedConfig, configs: Mapping[str, ParsedConfig]) -> Iterator[Finding]:
    """What does not fit between an ensemble's tensors and those of the models that it passes them to."""
    known = _own_tensors(config)
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        model = configs.get(step.model_name)
        if model is None:
            continue
        yield from _batch_size(config, index, model)
        yield from _inputs(config, index, step, model, known)
        yield from _outputs(config, index, step, model, known)


def _own_tensors(config: ParsedConfig) -> dict[str, Tensor]:
    batching = config.message.max_batch_size > 0
    return {
        each.name: Tensor(
            config.name,
            config.enum(each, "data_type"),
            tuple(each.reshape.shape if each.HasField("reshape") else each.dims),
            batching,
        )
        for each in (*config.message.input, *config.message.output)
    }


def _batch_size(config: ParsedConfig, index: int, model: ParsedConfig) -> Iterator[Finding]:
    largest, own = config.message.max_batch_size, model.message.max_batch_size
    if own and own < largest:
        said = (
            f"ensemble {config.name} allows maximum batch size {largest}, but it contains model"
            f" {model.name} which only allows maximum batch size to be {own}"
        )
        hint = f"write `max_batch_size: {own}`, or raise that of {model.name}"
        yield config.finding(CODE, said, "max_batch_size", hint=hint)


def _inputs(
    config: ParsedConfig, index: int, step: Any, model: ParsedConfig, known: dict[str, Tensor]
) -> Iterator[Finding]:
    inputs = {each.name: each for each in model.message.input}
    place = (*STEP, index, "input_map")
    if model.completed is not False and not inputs:
        return
    for own, name in sorted(step.input_map.items()):
        if own in inputs:
            yield from _fits(config, (*place, own), name, _tensor(model, inputs[own]), known)
        else:
            said = (
                f"in ensemble {config.name}, ensemble tensor {name} is mapping to non-existing input {own}"
                f" in model {step.model_name}"
            )
            yield config.finding(CODE, said, *place, own, hint=f"the model has {', '.join(sorted(inputs))}")
    for own, tensor in inputs.items():
        if own not in step.input_map and not tensor.optional:
            said = (
                f"in ensemble {config.name}, input {own} in model {step.model_name} is not mapped to any"
                " ensemble tensors"
            )
            hint = f'write `input_map {{ key: "{own}" value: "..." }}`'
            yield config.finding(CODE, said, *STEP, index, hint=hint)


def _outputs(
    config: ParsedConfig, index: int, step: Any, model: ParsedConfig, known: dict[str, Tensor]
) -> Iterator[Finding]:
    outputs = {each.name: each for each in model.message.output}
    place = (*STEP, index, "output_map")
    if model.completed is not False and not outputs:
        return
    for own, name in sorted(step.output_map.items()):
        if own in outputs:
            yield from _fits(config, (*place, own), name, _tensor(model, outputs[own]), known)
        else:
            said = (
                f"in ensemble {config.name}, ensemble tensor {name} is mapped from non-existing output {own}"
                f" in model {step.model_name}"
            )
            yield config.finding(CODE, said, *place, own, hint=f"the model has {', '.join(sorted(outputs))}")


def _fits(
    config: ParsedConfig, place: tuple[str | int, ...], name: str, tensor: Tensor, known: dict[str, Tensor]
) -> Iterator[Finding]:
    """Hold a model's tensor against what is known of the ensemble's; what is new becomes known."""
    other = known.setdefault(name, tensor)
    start = f"in ensemble {config.name}, ensemble tensor {name}: "
    if other.data_type != tensor.data_type:
        said = (
            f"{start}inconsistent data type: {other.data_type} is inferred from model {other.model} while"
            f" {tensor.data_type} is inferred from model {tensor.model}"
        )
        yield config.finding(CODE, said, *place, hint="one of the two configurations has to change")
    elif not consistent(other, tensor):
        said = (
            f"{start}inconsistent shape: {shown(other)} is inferred from model {other.model} while"
            f" {shown(tensor)} is inferred from model {tensor.model}"
        )
        hint = (
            "a model with `max_batch_size: 0` writes the batch dimension itself, one with a batch leaves"
            " it out"
        )
        yield config.finding(CODE, said, *place, hint=hint)


def _tensor(model: ParsedConfig, tensor: Any) -> Tensor:
    batching = model.message.max_batch_size > 0
    return Tensor(model.name, model.enum(tensor, "data_type"), tuple(tensor.dims), batching)
