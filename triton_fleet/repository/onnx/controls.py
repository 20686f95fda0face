"""The inputs that the sequence batcher gives to a graph.

Source: triton-inference-server/onnxruntime_backend, r24.10 to r26.06, src/onnxruntime.cc,
ValidateBooleanSequenceControl and ValidateTypedSequenceControl.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig, Position
from triton_fleet.repository.config.sequences import CORRELATION, KINDS, SEQUENCE
from triton_fleet.repository.onnx.shapes import shape_text
from triton_fleet.repository.onnx_header import OnnxHeader

CODE = "FL446"
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
    found: dict[str, Control] = {}
    for index, tensor in enumerate(config.message.sequence_batching.control_input):
        for control in tensor.control:
            kind = config.enum(control, "kind")
            if kind == CORRELATION:
                data_type = config.enum(control, "data_type")
            else:
                data_type = next((BOOLEAN[field] for field in BOOLEAN if getattr(control, field)), "")
            if kind in KINDS and kind not in found:
                found[kind] = Control(tensor.name, data_type, (SEQUENCE, "control_input", index))
    return list(found.values())


def control_findings(config: ParsedConfig, header: OnnxHeader, *, batching: bool) -> Iterator[Finding]:
    """Controls that the graph does not have, or otherwise."""
    there = {each.name: each for each in header.inputs}
    for control in controls_of(config):
        if control.name not in there:
            message = (
                f"configuration specified sequence control '{control.name}',"
                " but model does not provide that input"
            )
            hint = f"the graph has {', '.join(there) or 'no inputs'}"
            yield config.finding(CODE, message, *control.place, hint=hint)
            continue
        tensor = there[control.name]
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
