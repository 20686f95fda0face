"""Inputs and outputs: names, data types, shapes and what they are reshaped to.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateModelIOConfig,
ValidateModelInput, ValidateModelOutput, ValidateIOShape and ValidateNonLinearFormatIO. Triton completes a
configuration before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.backend import TENSORRT_PLAN, backend_of, completes, platform_of
from triton_fleet.repository.config.message import ANY_SIZE, ParsedConfig

SIZES = "integer >= 1, or -1 to indicate a variable-size dimension"


def tensors(config: ParsedConfig) -> Iterator[Finding]:
    """Findings in the inputs and outputs; what the backend would complete is only a warning."""
    for kind in ("input", "output"):
        for index, tensor in enumerate(getattr(config.message, kind)):
            yield from _tensor(config, kind, index, tensor)
            yield from _layout(config, kind, index, tensor)
    yield from _duplicate_tensors(config)


def _tensor(config: ParsedConfig, kind: str, index: int, tensor: Any) -> Iterator[Finding]:
    place = (kind, index)
    if not tensor.name:
        message = f"model {kind} must specify 'name' for {config.name}"
        yield config.finding("FL418", message, *place, hint=f"name it as the model calls its {kind}")
        return
    subject = f"model {kind} '{tensor.name}'"
    for field, is_absent in (("data_type", not tensor.data_type), ("dims", not tensor.dims)):
        if is_absent and not (config.is_completed and completes(config)):
            yield config.finding(
                "FL418",
                f"{subject} must specify '{field}' for {config.name}",
                *place,
                hint=f"write {EXAMPLES[field]}",
                severity=_severity(config, field),
            )
    if not tensor.dims:
        return
    if _wrong(tensor.dims):
        message = f"{subject} dimension must be {SIZES} for {config.name}"
        hint = "a batch dimension is not written: it comes from `max_batch_size`"
        yield config.finding("FL418", message, *place, "dims", hint=hint)
        return
    if tensor.HasField("reshape"):
        yield from _reshape(config, place, subject, tensor)


def _severity(config: ParsedConfig, field: str) -> Severity:
    """Of a missing field: a warning where the backend may take it from the model, which is not known here.

    TensorRT takes it from the plan: a file that is checked alone is checked without one, as in Triton's own
    tests.
    """
    if config.is_completed is not None or not completes(config):
        return Severity.ERROR
    strict = field == "data_type" and not config.directory and backend_of(config) == "tensorrt"
    return Severity.ERROR if strict else Severity.WARNING


EXAMPLES = {"data_type": "`data_type: TYPE_FP32`, or what the model takes", "dims": "`dims: [ 3, -1 ]`"}


def _reshape(config: ParsedConfig, place: tuple[str, int], subject: str, tensor: Any) -> Iterator[Finding]:
    dims, shape = tensor.dims, tensor.reshape.shape
    if not shape and config.message.max_batch_size == 0:
        message = "cannot have empty reshape for non-batching model as scalar tensors are not supported"
        hint = "write `shape: [ 1 ]`, or a `max_batch_size` of at least 1"
    elif _wrong(shape):
        message, hint = f"reshape dimensions must be {SIZES}", ""
    elif _count(dims) != (_count(shape) if shape else 1):
        message = "has different size for dims and reshape"
        hint = f"{_format_dims(dims)} and {_format_dims(shape)} do not have equally many elements"
    elif ANY_SIZE in dims and len(_parts(dims)) != len(_parts(shape)):
        message = "has different number of variable-size dimensions for dims and reshape"
        hint = f"{_format_dims(dims)} cannot become {_format_dims(shape)}"
    elif ANY_SIZE in dims and _parts(dims) != _parts(shape):
        message = "has different size for dims and reshape"
        change = f"{_format_dims(dims)} cannot become {_format_dims(shape)}"
        hint = f"{change}: what stands between -1 has to be of one size"
    else:
        return
    yield config.finding("FL419", f"{subject} {message} for {config.name}", *place, "reshape", hint=hint)


def _layout(config: ParsedConfig, kind: str, index: int, tensor: Any) -> Iterator[Finding]:
    """Settings that only some formats and platforms have."""
    place = (kind, index)
    if kind == "input" and tensor.format and len(tensor.dims) != 3 and tensor.dims:
        message = f"model input NHWC/NCHW require 3 dims for {config.name}"
        hint = f"leave out `format`, or write three `dims` instead of {_format_dims(tensor.dims)}"
        yield config.finding("FL420", message, *place, "format", hint=hint)
    if platform_of(config) != TENSORRT_PLAN and (config.directory or backend_of(config)):
        if tensor.is_shape_tensor:
            message = f"shape tensors are only supported for TensorRT platform for {config.name}"
            yield config.finding("FL420", message, *place, "is_shape_tensor", hint="leave it out")
        if tensor.is_non_linear_format_io:
            message = f"Non-linear IO format is only supported for the TensorRT platform for {config.name}"
            yield config.finding("FL420", message, *place, "is_non_linear_format_io", hint="leave it out")
    elif tensor.is_non_linear_format_io and len(tensor.dims) != 3:
        message = f"Non-linear IO format {kind} requires 3 dims for {config.name}"
        yield config.finding("FL420", message, *place, "is_non_linear_format_io")


def _duplicate_tensors(config: ParsedConfig) -> Iterator[Finding]:
    for kind in ("input", "output"):
        names = set[str]()
        for index, tensor in enumerate(getattr(config.message, kind)):
            if tensor.name and tensor.name in names:
                message = (
                    f"{kind} {tensor.name!r} is described twice; Triton keeps the first and ignores this one"
                )
                yield config.finding(
                    "FL418", message, kind, index, hint="leave one out", severity=Severity.WARNING
                )
            names.add(tensor.name)


def _wrong(dims: Sequence[int]) -> bool:
    return any(dimension < 1 and dimension != ANY_SIZE for dimension in dims)


def _count(dims: Sequence[int]) -> int:
    """Elements; -1 if they vary, 0 of no dimensions."""
    if not dims:
        return 0
    return ANY_SIZE if ANY_SIZE in dims else prod(dims)


def _parts(dims: Sequence[int]) -> list[int]:
    """Elements before, between and after the variable dimensions."""
    parts = [1]
    for dimension in dims:
        if dimension == ANY_SIZE:
            parts.append(1)
        else:
            parts[-1] *= dimension
    return parts


def _format_dims(dims: Sequence[int]) -> str:
    return f"[ {', '.join(map(str, dims))} ]" if dims else "[ ]"
