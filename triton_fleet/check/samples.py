"""Samples of a spec against the configuration of the model that would answer them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from triton_fleet.context.shared_container import default_route, routed_models
from triton_fleet.findings import Finding
from triton_fleet.project.project import LoadedSpec
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.loading.load_plan import LoadPlan
from triton_fleet.spec.datatypes import Datatype
from triton_fleet.spec.endpoint import EndpointSpec, Mode
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.samples import ANY_SIZE, OK, Input, Output, Sample
from triton_fleet.spec.source import KeyPath, finding_at

CODE = "FL328"


def sample_findings(loaded: LoadedSpec, index: int, plan: LoadPlan) -> Iterator[Finding]:
    """What does not fit of the samples that one of the spec's repositories answers.

    A sample that is to be refused may be as wrong as it likes.

    Args:
        loaded: The spec.
        index: Which entry of its `models`.
        plan: What the container makes of the repository.
    """
    targets = {each.name for each in loaded.spec.models[index].packed(index)}
    samples = [
        (number, each)
        for number, each in enumerate(loaded.spec.samples)
        if each.status == OK and (each.target is None or each.target in targets)
    ]
    for number, sample in samples:
        model = plan.models.get(_called(loaded.spec, sample, plan.models) or plan.main or "")
        if model is not None:
            yield from _of_sample(loaded, ("samples", number), sample, model.config)


def _called(spec: EndpointSpec, sample: Sample, models: Collection[str]) -> str | None:
    """The model behind the route that a sample calls; None in other modes."""
    if spec.mode is not Mode.SHARED_CONTAINER:
        return None
    routes = routed_models(spec, models)
    return routes.get(sample.model or default_route(spec, routes) or "")


def _of_sample(loaded: LoadedSpec, path: KeyPath, sample: Sample, config: ParsedConfig) -> Iterator[Finding]:
    message = config.message
    for kind, given in (("input", sample.inputs), ("output", sample.outputs)):
        declared = {each.name: each for each in getattr(message, kind)}
        if not declared:  # left to the backend
            continue
        for name, tensor in given.items():
            at = (*path, f"{kind}s", name)
            if name not in declared:
                reason = f"model {config.name!r} has no {kind} {name!r}"
                yield finding_at(loaded.source.mark(at), CODE, reason, did_you_mean(name, declared))
                continue
            if misfit := _misfit(tensor, declared[name], config):
                hint = f"its {kind} is of {_declaration_text(declared[name], config)}"
                yield finding_at(
                    loaded.source.mark(at), CODE, f"{kind} {name!r} of model {config.name!r} {misfit}", hint
                )
    yield from _missing_inputs(loaded, path, sample.inputs, config)


def _missing_inputs(
    loaded: LoadedSpec, path: KeyPath, inputs: Mapping[str, Input], config: ParsedConfig
) -> Iterator[Finding]:
    for each in config.message.input:
        if not each.optional and each.name not in inputs:
            message = f"model {config.name!r} needs the input {each.name!r}, but the sample does not have it"
            hint = f"it is of {_declaration_text(each, config)}"
            yield finding_at(loaded.source.mark((*path, "inputs")), CODE, message, hint)


def _misfit(tensor: Input | Output, declared: Any, config: ParsedConfig) -> str | None:
    """What is wrong with the data type or the shape, as a clause."""
    wanted = config.enum(declared, "data_type")
    if tensor.datatype is not None and declared.data_type and wanted != tensor.datatype.in_config:
        return f"is {_datatype(wanted)}, and not {tensor.datatype}"
    shape, dims = tensor.shape, _dims(declared, config)
    if shape is None or not declared.dims or declared.is_shape_tensor:
        return None
    if len(shape) == len(dims) + 1 and not config.message.max_batch_size and config.completed is not False:
        return None  # the backend may make it one that batches
    if len(shape) != len(dims) or not all(map(_agree, shape, dims)):
        return f"does not have the shape {list(shape)}"
    most = config.message.max_batch_size
    return f"takes batches of {most} at most, and not of {shape[0]}" if most and shape[0] > most else None


def _agree(given: int, declared: int) -> bool:
    return ANY_SIZE in (given, declared) or given == declared


def _dims(declared: Any, config: ParsedConfig) -> Sequence[int]:
    """As callers see them: with the batch in front."""
    batch = [ANY_SIZE] if config.message.max_batch_size > 0 else []
    return [*batch, *declared.dims]


def _declaration_text(declared: Any, config: ParsedConfig) -> str:
    return f"{_datatype(config.enum(declared, 'data_type'))}, shape {_dims(declared, config)}"


def _datatype(name: str) -> str:
    return next((each.value for each in Datatype if each.in_config == name), name)
