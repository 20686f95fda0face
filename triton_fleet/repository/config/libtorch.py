"""Inputs and outputs that the PyTorch backend refuses of any TorchScript model.

Source: triton-inference-server/pytorch_backend, r26.05, src/pt/model_instance_state.cc, ValidateInputs,
ValidateOutputs, GetNamingConvention, ValidateBooleanSequenceControl and ValidateTypedSequenceControl.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton_fleet.catalog.backends import Backend
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig

CODE = "FL455"
STRING = "TYPE_STRING"


def libtorch_tensors(config: ParsedConfig, facts: Backend) -> Iterator[Finding]:
    """Settings that a TorchScript model cannot have."""
    for kind in ("input", "output"):
        tensors = getattr(config.message, kind)
        if not tensors:
            message = f"model configuration must contain at least one {kind}, none were specified."
            hint = f"PyTorch's files do not contain their {kind}s: write them"
            yield config.finding(CODE, message, kind, hint=hint)
        for index, tensor in enumerate(tensors):
            yield from _string(config, kind, index, tensor)
        yield from _same_number(config, kind)
    yield from _order(config)
    if config.message.HasField("sequence_batching"):
        yield from _controls(config, facts)
        yield from _states(config, facts)


def has_number(name: str) -> bool:
    """Whether a name is of the form NAME__NUMBER; the number may be missing, as for the backend."""
    _, between, number = name.partition("__")
    return bool(between) and (not number or (number.isascii() and number.isdigit()))


def _string(config: ParsedConfig, kind: str, index: int, tensor: Any) -> Iterator[Finding]:
    if config.enum(tensor, "data_type") != STRING:
        return
    dims = tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims
    if len(dims) + (config.message.max_batch_size > 0) > 1:
        message = (
            f"Triton only supports 1 dimensional List of String as {kind} for '{tensor.name}' for model"
            f" '{config.name}'"
        )
        hint = "write one dimension and `max_batch_size: 0`, or reshape it to `shape: [ ]`"
        yield config.finding(CODE, message, kind, index, "dims", hint=hint)


def _same_number(config: ParsedConfig, kind: str) -> Iterator[Finding]:
    """Only a warning: numbers decide nothing where the model calls its own arguments so."""
    tensors = getattr(config.message, kind)
    if not all(has_number(tensor.name) for tensor in tensors):
        return
    numbers: dict[str, str] = {}
    for index, tensor in enumerate(tensors):
        number = tensor.name.partition("__")[2].lstrip("0") or "0"
        if number in numbers:
            message = f"{kind}s '{numbers[number]}' and '{tensor.name}' both are number {number} of the model"
            hint = f"number them from 0 in the order in which the model has its {kind}s"
            place = (kind, index, "name")
            yield config.finding(CODE, message, *place, hint=hint, severity=Severity.WARNING)
        numbers.setdefault(number, tensor.name)


def _order(config: ParsedConfig) -> Iterator[Finding]:
    outputs = config.message.output
    plain_indexes = [index for index, tensor in enumerate(outputs) if not has_number(tensor.name)]
    if plain_indexes and len(plain_indexes) < len(outputs):
        message = (
            f"output '{outputs[plain_indexes[0]].name}' does not follow the <name>__<index> naming"
            " convention: no output's number counts, only the order in the configuration"
        )
        hint = "name all outputs so, or none"
        yield config.finding(
            CODE, message, "output", plain_indexes[0], "name", hint=hint, severity=Severity.WARNING
        )


def _controls(config: ParsedConfig, facts: Backend) -> Iterator[Finding]:
    for index, control in enumerate(config.message.sequence_batching.control_input):
        place = ("sequence_batching", "control_input", index)
        if not has_number(control.name):
            message = f"input '{control.name}' does not follow <name>__<index> naming convention."
            yield config.finding(
                CODE, message, *place, "name", hint=f'such as "{control.name or "START"}__1"'
            )
        for number, control_value in enumerate(control.control):
            kind = config.enum(control_value, "data_type")
            has_type = (
                config.enum(control_value, "kind") == "CONTROL_SEQUENCE_CORRID" and kind != "TYPE_INVALID"
            )
            if has_type and (kind not in facts.types or kind == STRING):
                message = f"input '{control.name}' type '{kind}' is not supported by PyTorch."
                yield config.finding(
                    CODE, message, *place, "control", number, hint="write `data_type: TYPE_INT64`"
                )


def _states(config: ParsedConfig, facts: Backend) -> Iterator[Finding]:
    states = config.message.sequence_batching.state
    for kind in ("input", "output"):
        for index, tensor in enumerate(getattr(config.message, kind) if states else ()):
            if not has_number(tensor.name):
                message = (
                    f"PyTorch model '{config.name}' is using sequence batching with state but not all inputs"
                    " and outputs follow the <name>__<index> naming convention."
                )
                yield config.finding(
                    CODE, message, kind, index, "name", hint=f'such as "{tensor.name}__{index}"'
                )
    for index, state in enumerate(states):
        place = ("sequence_batching", "state", index)
        for field in ("input_name", "output_name"):
            name = getattr(state, field)
            if not has_number(name):
                message = (
                    f"PyTorch model '{config.name}' is using sequence batching with state but state '{name}'"
                    " does not follow the <name>__<index> naming convention."
                )
                yield config.finding(CODE, message, *place, field, hint=f'such as "{name}__{index}"')
        kind = config.enum(state, "data_type")
        if kind not in (*facts.types, "TYPE_INVALID"):
            message = f"unsupported datatype {kind} for state '{state.output_name}' for model '{config.name}'"
            yield config.finding(CODE, message, *place, "data_type", hint=f"it has {', '.join(facts.types)}")
