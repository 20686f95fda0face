"""The ONNX Runtime backend's messages where a config and its graph disagree.

Sources: triton-inference-server/onnxruntime_backend, r24.10 to r26.06, src/onnxruntime.cc,
AutoCompleteMaxBatch, ModelInstanceState, ValidateInputs, ValidateOutputs, ValidateBooleanSequenceControl and
ValidateTypedSequenceControl; triton-inference-server/backend, src/backend_common.cc, CheckAllowedModelInput
and CheckAllowedModelOutput.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig, Position
from triton_fleet.repository.config.sequences import CORRELATION, KINDS, SEQUENCE
from triton_fleet.repository.contents import TENSOR, Contents, OnnxHeader, OnnxTensor
from triton_fleet.repository.model_config import model_config
from triton_fleet.repository.onnx.shapes import shape_problem, shape_text

CODE = "FL446"


def has_field(config: ParsedConfig, field: str) -> bool:
    """Whether the config's text has a field of tensors; from the graph others may have been completed."""
    text_config = model_config(config.content)
    if text_config is not None and getattr(text_config, field):
        return True
    # An empty list is written as well, and only the text shows it.
    return any(field_node.name == field for field_node in config.tree.root.fields)


def onnx_findings(config: ParsedConfig, header: OnnxHeader, file: Path) -> Iterator[Finding]:
    """Findings in a graph in a file or in its config; only what is written there is checked."""
    if header.problem:
        message = f"unable to load model '{config.name}': its ONNX file cannot be read: {header.problem}"
        severity = Severity.ERROR if header.certain else Severity.WARNING
        yield Finding(code="FL445", message=message, file=file, severity=severity)
        return
    if other_tensors := [
        output for output in (*header.inputs, *header.outputs) if output.onnx_type != TENSOR
    ]:
        for value in other_tensors:
            reason = f"Unsupported ONNX Type '{value.onnx_type}' for I/O '{value.name}', expected '{TENSOR}'."
            yield Finding(code=CODE, message=reason, file=file, hint="let the graph have only tensors")
        return
    batching = config.message.max_batch_size > 0
    has_inputs = has_field(config, "input") or has_field(config, "batch_input")
    completes = not has_inputs or not has_field(config, "output")
    if completes and can_batch(header) != batching:
        if batching:
            reason = (
                f"autofill failed for model '{config.name}': model does not support batching while non-zero"
                " max_batch_size is specified"
            )
            hint = "write `max_batch_size: 0`, or export the graph with an open first dimension everywhere"
            yield config.finding(CODE, reason, "max_batch_size", hint=hint)
            return
        batching = True
    yield from _count(config, header)
    yield from control_findings(config, header, batching=batching)
    yield from _tensors(config, "input", (*header.inputs, *header.overridable), batching)
    yield from _tensors(config, "output", header.outputs, batching)


def external_findings(
    config: ParsedConfig, header: OnnxHeader, contents: Contents, folder: str
) -> Iterator[Finding]:
    """Files with weights that do not exist; the graph that names them is in this folder."""
    for location in header.external:
        path = posixpath.normpath(posixpath.join(folder, location))
        if location.startswith("/") or path.startswith(".."):
            message = f"model '{config.name}' has weights in {location!r}, which leads out of the repository"
            hint = "save the weights beside the graph, under a plain name"
            yield Finding(
                code="FL447",
                message=message,
                file=contents.file(folder),
                hint=hint,
                severity=Severity.WARNING,
            )
        elif not contents.is_file(path):
            message = f"model '{config.name}' has weights in {location!r}, which does not exist"
            hint = "put it beside the graph: it is a part of the model"
            yield Finding(code="FL447", message=message, file=contents.file(path), hint=hint)


def can_batch(header: OnnxHeader) -> bool:
    """Whether all first dimensions are open; of an output without a shape ONNX Runtime infers one."""
    inputs = [tensor.shape or () for tensor in header.inputs]
    outputs = [output.shape for output in header.outputs if output.shape is not None]
    return all(shape[:1] == (-1,) for shape in (*inputs, *outputs))


def _count(config: ParsedConfig, header: OnnxHeader) -> Iterator[Finding]:
    message, graph_count = config.message, len(header.inputs)
    count = len(message.batch_input) + len(controls_of(config))
    count += len(message.sequence_batching.state) if message.HasField("sequence_batching") else 0
    if has_field(config, "input"):
        count += sum(not tensor.optional for tensor in message.input)
    elif not message.batch_input:
        count += graph_count
    if count != graph_count:
        reason = (
            f"unable to load model '{config.name}', configuration expects {count} inputs,"
            f" model provides {graph_count}"
        )
        names = ", ".join(
            f"{tensor.name} ({tensor.data_type}, {shape_text(tensor.shape)})" for tensor in header.inputs
        )
        yield config.finding(CODE, reason, "input", hint=f"the graph has {names or 'no inputs'}")


def _tensors(
    config: ParsedConfig, kind: str, tensors: tuple[OnnxTensor, ...], batching: bool
) -> Iterator[Finding]:
    if not has_field(config, kind):
        return
    graph_tensors = {tensor.name: tensor for tensor in tensors}
    target_names = {name for batch_output in config.message.batch_output for name in batch_output.target_name}
    for index, tensor_config in enumerate(getattr(config.message, kind)):
        tensor = graph_tensors.get(tensor_config.name)
        if tensor is None:
            names = ", ".join(sorted(graph_tensors, key=str.encode))
            message = f"unexpected inference {kind} '{tensor_config.name}', allowed {kind}s are: {names}"
            yield config.finding(
                CODE, message, kind, index, "name", hint="write the name as the graph has it"
            )
            continue
        yield from _data_type(config, kind, index, tensor_config, tensor)
        if kind == "input" and tensor_config.allow_ragged_batch:
            yield from _ragged_tensors(config, index, tensor)
        elif kind == "input" or tensor_config.name not in target_names:
            yield from _shape(config, kind, index, tensor_config, tensor, batching)


def _data_type(
    config: ParsedConfig, kind: str, index: int, tensor_config: Any, tensor: OnnxTensor
) -> Iterator[Finding]:
    data_type = config.enum(tensor_config, "data_type")
    # Triton itself reports a missing one.
    if data_type in (tensor.data_type, "TYPE_INVALID"):
        return
    # What a config calls TYPE_STRING is BYTES to the backend's own names.
    graph_type = {"": "TYPE_<invalid>", "TYPE_STRING": "TYPE_BYTES"}.get(tensor.data_type, tensor.data_type)
    message = (
        f"unable to load model '{config.name}', configuration expects datatype {data_type} for {kind}"
        f" '{tensor_config.name}', model provides {graph_type}"
    )
    hint = f"write `data_type: {tensor.data_type}`" if tensor.data_type else "Triton has no such data type"
    yield config.finding(CODE, message, kind, index, "data_type", hint=hint)


def _ragged_tensors(config: ParsedConfig, index: int, tensor: OnnxTensor) -> Iterator[Finding]:
    if tensor.shape != (-1,):
        message = (
            f"unable to load model '{config.name}', configuration expects model provides input with shape"
            f" [-1]  for ragged input '{tensor.name}', model provides {shape_text(tensor.shape)}"
        )
        hint = "leave out `allow_ragged_batch`, or export the graph with that input flat"
        yield config.finding(CODE, message, "input", index, "allow_ragged_batch", hint=hint)


def _shape(
    config: ParsedConfig, kind: str, index: int, tensor_config: Any, tensor: OnnxTensor, batching: bool
) -> Iterator[Finding]:
    has_reshape = tensor_config.HasField("reshape")
    dims = tuple(tensor_config.reshape.shape if has_reshape else tensor_config.dims)
    # ONNX Runtime infers the shape of an output that has none; an input without one is a scalar to it.
    if tensor.shape is None and kind == "output":
        return
    problem = shape_problem(config.name, tensor, dims, batching=batching, exact=kind == "output")
    if problem:
        severity = Severity.ERROR if problem.certain else Severity.WARNING
        place = (kind, index, "reshape" if has_reshape else "dims")
        yield config.finding(CODE, problem.message, *place, hint=problem.hint, severity=severity)


BOOLEAN = {
    "int32_false_true": "TYPE_INT32",
    "fp32_false_true": "TYPE_FP32",
    "bool_false_true": "TYPE_BOOL",
}
NAMES = {
    "": "UNDEFINED",
    "TYPE_FP32": "FLOAT",
    "TYPE_FP16": "FLOAT16",
    "TYPE_FP64": "DOUBLE",
    "TYPE_BF16": "BFLOAT16",
}
"""Data types as ONNX calls them, where that is another name."""


@dataclass(frozen=True)
class Control:
    """An input of the graph that takes a control, and its place in the config."""

    name: str
    data_type: str
    place: Position


def controls_of(config: ParsedConfig) -> list[Control]:
    """One for each kind of control that the config has."""
    if not config.message.HasField(SEQUENCE):
        return []
    controls: dict[str, Control] = {}
    for index, tensor in enumerate(config.message.sequence_batching.control_input):
        for control in tensor.control:
            kind = config.enum(control, "kind")
            if kind == CORRELATION:
                data_type = config.enum(control, "data_type")
            else:
                data_type = next((BOOLEAN[field] for field in BOOLEAN if getattr(control, field)), "")
            if kind in KINDS and kind not in controls:
                controls[kind] = Control(tensor.name, data_type, (SEQUENCE, "control_input", index))
    return list(controls.values())


def control_findings(config: ParsedConfig, header: OnnxHeader, *, batching: bool) -> Iterator[Finding]:
    """Controls that the graph does not have, or otherwise."""
    graph_inputs = {graph_tensor.name: graph_tensor for graph_tensor in header.inputs}
    for control in controls_of(config):
        if control.name not in graph_inputs:
            message = (
                f"configuration specified sequence control '{control.name}',"
                " but model does not provide that input"
            )
            hint = f"the graph has {', '.join(graph_inputs) or 'no inputs'}"
            yield config.finding(CODE, message, *control.place, hint=hint)
            continue
        tensor = graph_inputs[control.name]
        start = f"unable to load model '{config.name}', sequence control '{control.name}'"
        dims = (tensor.shape or ())[batching:]
        if dims != (1,):
            message = f"{start} in model has dims {shape_text(dims)} but dims [1] is expected"
            yield config.finding(
                CODE, message, *control.place, hint="export the graph with one value per sequence"
            )
        if tensor.data_type != control.data_type:
            name = NAMES.get(tensor.data_type, tensor.data_type.removeprefix("TYPE_"))
            message = (
                f"{start}, the model expects data-type {name} but the model configuration specifies data-type"
                f" {control.data_type}"
            )
            hint = f"give the control as {tensor.data_type or 'another type'}"
            yield config.finding(CODE, message, *control.place, hint=hint)
