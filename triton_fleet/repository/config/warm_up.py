"""Warm-up samples: requests that Triton makes up and answers before a model is ready.

Source: triton-inference-server/core, r24.10 and r26.06, src/backend_model_instance.cc, GenerateWarmupData
and WarmUp; src/infer_request.cc, Normalize and ValidateRequestInputs. A batch beyond the largest ends the
server (tried with 24.10).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ANY_SIZE, ParsedConfig

CODE = "FL430"


def warm_up(config: ParsedConfig) -> Iterator[Finding]:
    """Samples that could not be made, or that the model would not take."""
    for index, sample in enumerate(config.message.model_warmup):
        place = ("model_warmup", index)
        if not sample.batch_size:
            message = f"the warm-up sample '{sample.name}' has no `batch_size`: Triton skips it"
            yield config.finding(
                CODE, message, *place, hint="write `batch_size: 1`", severity=Severity.WARNING
            )
            continue
        wrong = list(_data(config, index, sample))
        yield from wrong or _request(config, index, sample)
        if sample.batch_size > max(config.message.max_batch_size, 1):
            message = (
                f"the warm-up sample '{sample.name}' is a batch of {sample.batch_size}, and the model takes"
                f" {config.message.max_batch_size}: the server ends"
            )
            yield config.finding(
                CODE, message, *place, "batch_size", hint="write no more than `max_batch_size`"
            )


def _data(config: ParsedConfig, index: int, sample: Any) -> Iterator[Finding]:
    for name, tensor in sorted(sample.inputs.items()):
        place = ("model_warmup", index, "inputs", name)
        if ANY_SIZE in tensor.dims:
            message = f"warmup setting expects all variable-size dimensions are specified for input '{name}'"
            yield config.finding(CODE, message, *place, hint="write a number for each dimension")
        elif tensor.WhichOneof("input_data_type") is None:
            message = f"warmup setting expects input '{name}' to have input_data_type set"
            yield config.finding(
                CODE, message, *place, hint="write `random_data: true`, or `zero_data: true`"
            )


def _request(config: ParsedConfig, index: int, sample: Any) -> Iterator[Finding]:
    """Why a request of the sample's inputs is refused; inputs that the model has not are controls."""
    inputs = {tensor.name: tensor for tensor in config.message.input}
    names = sorted(set(sample.inputs) & set(inputs))
    gaps = sorted(name for name, tensor in inputs.items() if not tensor.optional and name not in names)
    if gaps:
        message = (
            f"expected {_number(inputs)} but got {len(names)} inputs for model '{config.name}'. Got input(s)"
            f" {_list_names(names)}, but missing required input(s) {_list_names(gaps)}. Please provide all"
            " required input(s)."
        )
        yield config.finding(
            CODE, message, "model_warmup", index, hint="a sample has all of the model's inputs"
        )
        return
    for name in names:
        yield from _input(config, index, name, sample.inputs[name], inputs[name])


def _input(config: ParsedConfig, index: int, name: str, tensor: Any, input_config: Any) -> Iterator[Finding]:
    place = ("model_warmup", index, "inputs", name)
    types = [config.enum(side, "data_type").removeprefix("TYPE_") for side in (tensor, input_config)]
    if input_config.data_type and tensor.data_type != input_config.data_type:
        message = (
            f"inference input '{name}' data-type is '{_data_type_names(types[0])}', but model"
            f" '{config.name}' expects '{_data_type_names(types[1])}'"
        )
        yield config.finding(CODE, message, *place, "data_type", hint=f"write `data_type: TYPE_{types[1]}`")
    elif input_config.dims and not _fits(input_config.dims, tensor.dims):
        batch = [str(side) for side in ((ANY_SIZE,) if config.message.max_batch_size > 0 else ())]
        dims_text = ",".join((*batch, *map(str, input_config.dims)))
        got = ",".join((*("1" for _ in batch), *map(str, tensor.dims)))
        message = (
            f"unexpected shape for input '{name}' for model '{config.name}'. Expected [{dims_text}], got"
            f" [{got}]."
        )
        yield config.finding(
            CODE, message, *place, "dims", hint="write `dims` as the input has them, without the batch"
        )


def _number(inputs: dict[str, Any]) -> str:
    least_inputs = sum(not tensor.optional for tensor in inputs.values())
    return (
        f"{len(inputs)} inputs"
        if least_inputs == len(inputs)
        else f"number of inputs between {least_inputs} and {len(inputs)}"
    )


def _list_names(names: Sequence[str]) -> str:
    return f"[{','.join(repr(name) for name in names)}]"


def _data_type_names(data_type: str) -> str:
    return "BYTES" if data_type == "STRING" else data_type


def _fits(dims: Sequence[int], sizes: Sequence[int]) -> bool:
    return len(dims) == len(sizes) and all(
        dim in (ANY_SIZE, size) for dim, size in zip(dims, sizes, strict=True)
    )
