"""The states that the sequence batcher keeps for a model, and what they begin with.

Source: triton-inference-server/core, r26.06, src/sequence_batch_scheduler/sequence_batch_scheduler.cc,
Create and GenerateInitialStateData.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig

CODE = "FL423"
ANY = -1


def states(config: ParsedConfig, batcher: Any) -> Iterator[Finding]:
    """What is wrong with the initial states of a sequence batcher."""
    seen = set[str]()
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
            if state.input_name in seen:
                message, hint = f"State input name '{state.input_name}' specified more than once.", ""
            if message:
                yield config.finding(CODE, message, *place, 0, hint=hint)
            seen.add(state.input_name)


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
    for own, wanted in zip(initial.dims, state.dims, strict=True):
        if own == ANY:
            message = f"'initial_state' field for state input name '{name}' contains variable dimensions."
            return message, "write numbers: the first state has to have a size"
        if wanted not in (ANY, own):
            message = (
                f"'initial_state' dim for input name '{name}' doesn't match 'state' dim description."
                f" {own} != {wanted}"
            )
            return message, ""
    if initial.WhichOneof("state_data") is None:
        message = f"initial_state setting expects state'{name}' to have state_data set"
        return message, "write `zero_data: true`, or a `data_file`"
    return "", ""
