"""The sequence batcher: its controls, its strategies and the states that it keeps.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateModelConfig,
GetBooleanSequenceControlProperties and GetTypedSequenceControlProperties;
src/sequence_batch_scheduler/sequence_batch_scheduler.cc, Create and GenerateInitialStateData.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton_fleet.findings import Finding
from triton_fleet.repository.config.batching import preferred_sizes
from triton_fleet.repository.config.message import ANY_SIZE, ParsedConfig, Position

SEQUENCE = "sequence_batching"
CODE = "FL423"
CORRELATION = "CONTROL_SEQUENCE_CORRID"
KINDS = ("CONTROL_SEQUENCE_START", "CONTROL_SEQUENCE_END", "CONTROL_SEQUENCE_READY", CORRELATION)
VALUES = ("int32_false_true", "fp32_false_true", "bool_false_true")
NUMBERS = ("TYPE_UINT64", "TYPE_INT64", "TYPE_UINT32", "TYPE_INT32")


def sequences(config: ParsedConfig) -> Iterator[Finding]:
    """Findings in `sequence_batching`."""
    if not config.message.HasField(SEQUENCE):
        return
    batcher = config.message.sequence_batching
    yield from _names(config, batcher)
    yield from _controls(config, batcher)
    yield from _strategy(config, batcher)
    yield from states(config, batcher)


def _names(config: ParsedConfig, batcher: Any) -> Iterator[Finding]:
    names = set[str]()
    for index, tensor in enumerate(batcher.control_input):
        place = (SEQUENCE, "control_input", index)
        if not tensor.name:
            message = f"sequence batching control tensor must have a name for {config.name}"
            yield config.finding(CODE, message, *place, hint="name the model's input that takes the control")
        elif tensor.name in names:
            message = (
                f"sequence batching control tensor '{tensor.name}' is specified for multiple control kinds"
                f" for {config.name}"
            )
            yield config.finding(CODE, message, *place, hint="give each control an input of its own")
        names.add(tensor.name)


def _controls(config: ParsedConfig, batcher: Any) -> Iterator[Finding]:
    names = set[str]()
    for index, tensor in enumerate(batcher.control_input):
        for number, control in enumerate(tensor.control):
            place = (SEQUENCE, "control_input", index, "control", number)
            kind = config.enum(control, "kind")
            if kind in names:
                message = f"sequence batching specifies multiple {kind} tensors for {config.name}"
                yield config.finding(CODE, message, *place, hint="leave one of them out")
            elif kind == CORRELATION:
                yield from _correlation(config, control, place)
            elif kind in KINDS:
                yield from _boolean(config, control, kind, place)
            names.add(kind)


def _boolean(config: ParsedConfig, control: Any, kind: str, place: Position) -> Iterator[Finding]:
    keys = [field for field in VALUES if getattr(control, field)]
    alternatives = "'int32_false_true', 'fp32_false_true'"
    if not keys:
        message = (
            f"sequence batching must specify either {alternatives} or 'bool_false_true' for {kind} for"
            f" {config.name}"
        )
        yield config.finding(CODE, message, *place, hint="write `int32_false_true: [ 0, 1 ]`")
    elif len(keys) > 1:
        message = (
            f"sequence batching specifies more than one from {alternatives} and 'bool_false_true'"
            f" for {kind} for {config.name}"
        )
        yield config.finding(CODE, message, *place, hint=f"keep only {keys[0]}")
    elif len(getattr(control, keys[0])) != 2:
        message = (
            f"sequence batching control '{keys[0]}' must have exactly 2 entries for {kind} for {config.name}"
        )
        yield config.finding(CODE, message, *place, keys[0], hint="the first means false, the second true")


def _correlation(config: ParsedConfig, control: Any, place: Position) -> Iterator[Finding]:
    if any(getattr(control, field) for field in VALUES):
        message = (
            "sequence batching must not specify either 'int32_false_true', 'fp32_false_true' or"
            f" 'bool_false_true' for {CORRELATION} for {config.name}"
        )
        yield config.finding(CODE, message, *place, hint="a correlation ID has a `data_type` instead")
    if config.enum(control, "data_type") not in (*NUMBERS, "TYPE_STRING"):
        message = (
            f"unexpected data type for control {CORRELATION} for {config.name}. Allowed data types are"
            " TYPE_UINT64, TYPE_INT64, TYPE_UINT32, TYPE_INT32 and TYPE_STRING"
        )
        yield config.finding(CODE, message, *place, "data_type", hint="write `data_type: TYPE_UINT64`")


def _strategy(config: ParsedConfig, batcher: Any) -> Iterator[Finding]:
    if batcher.HasField("oldest"):
        message = f"sequence batching preferred batch size must be {{}} for {config.name}"
        yield from preferred_sizes(config, batcher.oldest.preferred_batch_size, message, SEQUENCE, "oldest")
    share = batcher.direct.minimum_slot_utilization
    # Not `not 0 <= share <= 1`: no number at all is taken, and nothing is less or more than that.
    if batcher.HasField("direct") and (share < 0 or share > 1):
        message = f"sequence batching minimum slot utilization must be in range (0.0, 1.0] for {config.name}"
        hint = f"{share:g} is not between 0 and 1"
        yield config.finding(CODE, message, SEQUENCE, "direct", "minimum_slot_utilization", hint=hint)


def states(config: ParsedConfig, batcher: Any) -> Iterator[Finding]:
    """Findings in the initial states of a sequence batcher."""
    names = set[str]()
    for index, state in enumerate(batcher.state):
        place = ("sequence_batching", "state", index, "initial_state")
        count = len(state.initial_state)
        if count > 1:
            message = (
                f"initial_state field for state input '{state.input_name}' must contain exactly one or zero"
                f" element. Found '{count}' elements."
            )
            yield config.finding(CODE, message, *place, 1, hint="leave all but one out")
        elif count == 1:
            message, hint = _initial(state, state.initial_state[0])
            if state.input_name in names:
                message, hint = f"State input name '{state.input_name}' specified more than once.", ""
            if message:
                yield config.finding(CODE, message, *place, 0, hint=hint)
            names.add(state.input_name)


def _initial(state: Any, initial: Any) -> tuple[str, str]:
    """The first thing that is wrong with an initial state, and a hint; nothing if all is well."""
    name = state.input_name
    if initial.data_type != state.data_type:
        message = (
            f"The data type used for 'initial_state' field of state '{name}' does not match the state"
            " data type."
        )
        return message, "write the data type of the state"
    if not initial.name:
        message = f"Field 'name' must be set when using initial_state for state input '{name}'."
        return message, "any name will do"
    if len(initial.dims) != len(state.dims):
        message = (
            "Number of dimensions in 'initial_state' doesn't match the size of 'state' dimensions for"
            f" state input '{name}'. {len(initial.dims)} != {len(state.dims)}"
        )
        return message, "write as many `dims` as the state has"
    for own, state_size in zip(initial.dims, state.dims, strict=True):
        if own == ANY_SIZE:
            message = f"'initial_state' field for state input name '{name}' contains variable dimensions."
            return message, "write numbers: the first state has to have a size"
        if state_size not in (ANY_SIZE, own):
            message = (
                f"'initial_state' dim for input name '{name}' doesn't match 'state' dim description."
                f" {own} != {state_size}"
            )
            return message, ""
    if initial.WhichOneof("state_data") is None:
        message = f"initial_state setting expects state'{name}' to have state_data set"
        return message, "write `zero_data: true`, or a `data_file`"
    return "", ""
