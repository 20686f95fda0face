"""Batch sizes, the dynamic batcher's queues and their priorities, and tensors that Triton makes of a batch.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateModelConfig and
ValidateBatchIO.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig, Position

DYNAMIC = "dynamic_batching"


def batching(config: ParsedConfig) -> Iterator[Finding]:
    """Findings in `max_batch_size` and `dynamic_batching`."""
    message = config.message
    if message.max_batch_size < 0:
        reason = f"'max_batch_size' must be non-negative value for {config.name}"
        hint = "write 0 for a model without a batch dimension"
        yield config.finding("FL421", reason, "max_batch_size", hint=hint)
    if message.HasField(DYNAMIC):
        batcher = message.dynamic_batching
        reason = f"dynamic batching preferred size must be {{}} for {config.name}"
        yield from preferred_sizes(config, batcher.preferred_batch_size, reason, DYNAMIC)
        yield from _priorities(config, batcher)
        yield from _check_order(config, batcher)
        if message.max_batch_size == 0:
            reason = "`dynamic_batching` does nothing while `max_batch_size` is 0"
            hint = (
                "write the largest batch that the model accepts as `max_batch_size`, or leave the batcher out"
            )
            yield config.finding("FL432", reason, DYNAMIC, hint=hint, severity=Severity.WARNING)


def preferred_sizes(config: ParsedConfig, sizes: Any, message: str, *path: str | int) -> Iterator[Finding]:
    """Findings in preferred batch sizes; `message` has a place for what they must be."""
    largest = config.message.max_batch_size
    for index, size in enumerate(sizes):
        place: Position = (*path, "preferred_batch_size", index)
        if size <= 0:
            yield config.finding("FL421", message.format("positive"), *place, hint=f"leave {size} out")
        elif size > largest:
            hint = f"{size} is more than `max_batch_size`, which is {largest}"
            yield config.finding("FL421", message.format("<= max batch size"), *place, hint=hint)


def _priorities(config: ParsedConfig, batcher: Any) -> Iterator[Finding]:
    levels = batcher.priority_levels
    if not levels:
        return
    if not 1 <= batcher.default_priority_level <= levels:
        message = f"default priority level must be in range [1, {levels}] for {config.name}"
        hint = f"`default_priority_level` is {batcher.default_priority_level}; 1 is the highest priority"
        yield config.finding("FL422", message, DYNAMIC, "default_priority_level", hint=hint)
    for level in sorted(batcher.priority_queue_policy):
        if not 1 <= level <= levels:
            message = (
                f"priority queue policy must have priority level in range [1, {levels}] for {config.name}"
            )
            hint = f"there is no level {level}"
            yield config.finding("FL422", message, DYNAMIC, "priority_queue_policy", str(level), hint=hint)


def _check_order(config: ParsedConfig, batcher: Any) -> Iterator[Finding]:
    if not batcher.preserve_ordering:
        return
    if batcher.priority_levels > 1:
        message = f"Only one priority level is allowed when 'preserve_ordering' is true for {config.name}"
        hint = "leave out `preserve_ordering` or `priority_levels`"
        yield config.finding("FL422", message, DYNAMIC, "preserve_ordering", hint=hint)
    policies: dict[tuple[str, ...], Any] = {("default_queue_policy",): batcher.default_queue_policy}
    for level, policy in batcher.priority_queue_policy.items():
        policies["priority_queue_policy", str(level)] = policy
    for path, policy in policies.items():
        if policy.default_timeout_microseconds and config.enum(policy, "timeout_action") == "DELAY":
            message = (
                "Queue policy can not have DELAY as timeout action when 'preserve_ordering' is true"
                f" for {config.name}"
            )
            hint = "write `timeout_action: REJECT`, or leave out `preserve_ordering`"
            yield config.finding("FL422", message, DYNAMIC, *path, "timeout_action", hint=hint)


CODE = "FL424"
DATA_TYPES = ("TYPE_INT32", "TYPE_FP32")


def batch_io(config: ParsedConfig) -> Iterator[Finding]:
    """Findings in the tensors that are made of a batch, or scattered from one."""
    inputs = {config_tensor.name for config_tensor in config.message.input}
    outputs = {config_tensor.name for config_tensor in config.message.output}
    for index, tensor in enumerate(config.message.batch_input):
        yield from _sources(config, "input", index, tensor, inputs)
        if config.enum(tensor, "data_type") not in DATA_TYPES:
            message = f"batch input data type must be TYPE_INT32 or TYPE_FP32 for {config.name}"
            if not tensor.data_type:
                message = "unexpected batch input data type 'TYPE_INVALID'"
            yield config.finding(
                CODE, message, "batch_input", index, "data_type", hint="write one of the two"
            )
    for index, output_tensor in enumerate(config.message.batch_output):
        yield from _sources(config, "output", index, output_tensor, inputs)
        yield from _targets(config, index, output_tensor, outputs)


def _sources(config: ParsedConfig, kind: str, index: int, tensor: Any, inputs: set[str]) -> Iterator[Finding]:
    place, count = (f"batch_{kind}", index), len(tensor.source_input)
    if count != 1:
        message = (
            f"batch {kind} kind '{config.enum(tensor, 'kind')}' expects 1 source input, got {count}"
            f" for {config.name}"
        )
        yield config.finding(CODE, message, *place, "source_input", hint="name one input in `source_input`")
    for number, name in enumerate(tensor.source_input):
        if name not in inputs:
            message = f"unknown source input name '{name}' for {config.name}"
            yield config.finding(CODE, message, *place, "source_input", number, hint=_names_text(inputs))


def _targets(config: ParsedConfig, index: int, tensor: Any, outputs: set[str]) -> Iterator[Finding]:
    names = set[str]()
    for number, name in enumerate(tensor.target_name):
        place = ("batch_output", index, "target_name", number)
        if name not in outputs:
            message = f"unknown target output name '{name}' for {config.name}"
            yield config.finding(CODE, message, *place, hint=_names_text(outputs))
        elif name in names:
            message = f"target output name '{name}' can only be specified once for {config.name}"
            yield config.finding(CODE, message, *place, hint="leave it out here")
        names.add(name)


def _names_text(names: set[str]) -> str:
    return f"the model has {', '.join(sorted(names))}" if names else "the model has none"
