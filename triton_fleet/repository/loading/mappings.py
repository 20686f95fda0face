"""The tensors of an ensemble compared with those of its composing models: names, types, shapes, batch sizes.

Source: triton-inference-server/core, r26.06, src/ensemble_scheduler/ensemble_utils.cc,
ValidateEnsembleConfig, ValidateTensorMapping and ValidateTensorConsistency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ANY_SIZE, ParsedConfig, Position
from triton_fleet.repository.loading.ensembles import STEP

CODE = "FL433"
WORDS = {"input": "is mapping to non-existing input", "output": "is mapped from non-existing output"}


def mappings(config: ParsedConfig, configs: Mapping[str, ParsedConfig]) -> Iterator[Finding]:
    """Mismatches between an ensemble's tensors and those of the models that it passes them to."""
    tensors = dict[str, SeenTensor]()
    for tensor in (*config.message.input, *config.message.output):
        dims = tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims
        tensors.setdefault(tensor.name, _see_tensor(config, tensor, dims))
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        model = configs.get(step.model_name)
        if model is None:
            continue
        yield from _batch_size(config, model)
        yield from _of_kind("input", config, index, model, tensors)
        yield from _unmapped_tensors(config, index, step, model)
        yield from _of_kind("output", config, index, model, tensors)


def _batch_size(config: ParsedConfig, model: ParsedConfig) -> Iterator[Finding]:
    largest, own = config.message.max_batch_size, model.message.max_batch_size
    if own and own < largest:
        message = (
            f"ensemble {config.name} allows maximum batch size {largest}, but it contains model {model.name}"
            f" which only allows maximum batch size to be {own}"
        )
        hint = f"write `max_batch_size: {own}`, or raise that of {model.name}"
        yield config.finding(CODE, message, "max_batch_size", hint=hint)


def _of_kind(
    kind: str, config: ParsedConfig, index: int, model: ParsedConfig, tensors_by_name: dict[str, SeenTensor]
) -> Iterator[Finding]:
    """A step's map of inputs or outputs; of a model that its backend completes unseen nothing is known."""
    step = config.message.ensemble_scheduling.step[index]
    tensors = getattr(model.message, kind)
    if model.is_completed is not False and not tensors:
        return
    for own, name in sorted(getattr(step, f"{kind}_map").items()):
        place = (*STEP, index, f"{kind}_map", own)
        matches = [tensor for tensor in tensors if tensor.name == own]
        for match in matches:
            if model.is_completed is False or (match.data_type and match.dims):
                yield from _fits(config, place, name, _see_tensor(model, match, match.dims), tensors_by_name)
        if not matches:
            message = (
                f"in ensemble {config.name}, ensemble tensor {name} {WORDS[kind]} {own}"
                f" in model {step.model_name}"
            )
            yield config.finding(
                CODE, message, *place, hint=_names_text(kind, [tensor.name for tensor in tensors])
            )


def _unmapped_tensors(config: ParsedConfig, index: int, step: Any, model: ParsedConfig) -> Iterator[Finding]:
    for tensor in model.message.input:
        if tensor.name not in step.input_map and not tensor.optional:
            message = (
                f"in ensemble {config.name}, input {tensor.name} in model {step.model_name}"
                " is not mapped to any ensemble tensors"
            )
            hint = f'write `input_map {{ key: "{tensor.name}" value: "..." }}`'
            yield config.finding(CODE, message, *STEP, index, hint=hint)


def _fits(
    config: ParsedConfig,
    place: Position,
    name: str,
    tensor: SeenTensor,
    tensors_by_name: dict[str, SeenTensor],
) -> Iterator[Finding]:
    """Hold a model's tensor against what is known of the ensemble's; what is new becomes known."""
    first = tensors_by_name.setdefault(name, tensor)
    start = f"in ensemble {config.name}, ensemble tensor {name}: "
    if first.data_type != tensor.data_type:
        message = (
            f"{start}inconsistent data type: {first.data_type} is inferred from model {first.model} while"
            f" {tensor.data_type} is inferred from model {tensor.model}"
        )
        yield config.finding(CODE, message, *place, hint="one of the two configurations has to change")
    elif not consistent(first, tensor):
        message = (
            f"{start}inconsistent shape: {shape_text(first)} is inferred from model {first.model} while"
            f" {shape_text(tensor)} is inferred from model {tensor.model}"
        )
        hint = "with `max_batch_size: 0` a model writes the batch dimension itself, else it leaves it out"
        yield config.finding(CODE, message, *place, hint=hint)


def _see_tensor(model: ParsedConfig, tensor: Any, dims: Any) -> SeenTensor:
    batching = model.message.max_batch_size > 0
    return SeenTensor(model.name, model.enum(tensor, "data_type"), tuple(dims), batching)


def _names_text(kind: str, names: Sequence[str]) -> str:
    return f"its {kind}s are {', '.join(sorted(names))}" if names else f"it describes no {kind}s: write them"


@dataclass(frozen=True)
class SeenTensor:
    """A tensor as a model describes it; `dims` are without the batch, which it has if `batching`."""

    model: str
    data_type: str
    dims: tuple[int, ...]
    batching: bool

    @property
    def full(self) -> tuple[int, ...]:
        """The shape with the batch."""
        return (ANY_SIZE, *self.dims) if self.batching else self.dims


def consistent(first: SeenTensor, second: SeenTensor) -> bool:
    """Whether the shapes fit, without the batch or with it; what varies is Triton's to see at each call."""
    return _fit(first.dims, second.dims) or _fit(first.full, second.full)


def shape_text(tensor: SeenTensor) -> str:
    """The full shape as Triton writes it."""
    return f"[{','.join(map(str, tensor.full))}]"


def _fit(first: Sequence[int], second: Sequence[int]) -> bool:
    return len(first) == len(second) and all(
        ANY_SIZE in pair or pair[0] == pair[1] for pair in zip(first, second, strict=True)
    )
