"""`batch_input` and `batch_output`: tensors that Triton makes of a batch.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateBatchIO.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig

CODE = "FL424"
DATA_TYPES = ("TYPE_INT32", "TYPE_FP32")


def batch_io(config: ParsedConfig) -> Iterator[Finding]:
    """What is wrong with the tensors that are made of a batch, or scattered from one."""
    inputs = {each.name for each in config.message.input}
    outputs = {each.name for each in config.message.output}
    for index, made in enumerate(config.message.batch_input):
        yield from _sources(config, "input", index, made, inputs)
        if config.enum(made, "data_type") not in DATA_TYPES:
            message = f"batch input data type must be TYPE_INT32 or TYPE_FP32 for {config.name}"
            if not made.data_type:
                message = "unexpected batch input data type 'TYPE_INVALID'"
            yield config.finding(
                CODE, message, "batch_input", index, "data_type", hint="write one of the two"
            )
    for index, scattered in enumerate(config.message.batch_output):
        yield from _sources(config, "output", index, scattered, inputs)
        yield from _targets(config, index, scattered, outputs)


def _sources(config: ParsedConfig, what: str, index: int, each: Any, inputs: set[str]) -> Iterator[Finding]:
    place, count = (f"batch_{what}", index), len(each.source_input)
    if count != 1:
        message = (
            f"batch {what} kind '{config.enum(each, 'kind')}' expects 1 source input, got {count}"
            f" for {config.name}"
        )
        yield config.finding(CODE, message, *place, "source_input", hint="name one input in `source_input`")
    for number, name in enumerate(each.source_input):
        if name not in inputs:
            message = f"unknown source input name '{name}' for {config.name}"
            yield config.finding(CODE, message, *place, "source_input", number, hint=_names_text(inputs))


def _targets(config: ParsedConfig, index: int, each: Any, outputs: set[str]) -> Iterator[Finding]:
    seen = set[str]()
    for number, name in enumerate(each.target_name):
        place = ("batch_output", index, "target_name", number)
        if name not in outputs:
            message = f"unknown target output name '{name}' for {config.name}"
            yield config.finding(CODE, message, *place, hint=_names_text(outputs))
        elif name in seen:
            message = f"target output name '{name}' can only be specified once for {config.name}"
            yield config.finding(CODE, message, *place, hint="leave it out here")
        seen.add(name)


def _names_text(names: set[str]) -> str:
    return f"the model has {', '.join(sorted(names))}" if names else "the model has none"
