"""A serialised DALI pipeline, taken apart without DALI.

Source: NVIDIA/DALI, dali/pipeline/proto/dali.proto, for the numbers and types of fields; DALI 1.53 and 2.4
write them so. Fields that are not listed are passed over, as every protobuf reader does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

PACKAGE = "dali_proto"
MAX_SIZE = 1 << 20
"""Bytes of a file that is read; a pipeline of four operators takes 1.4 kB."""
MESSAGES = {
    "Argument": {
        "name": (1, "bytes"),
        "floats": (3, "float*"),
        "ints": (4, "int64*"),
        "strings": (5, "bytes*"),
        "bools": (6, "bool*"),
        "extra_args": (7, "Argument*"),
    },
    "InputOutput": {"name": (1, "bytes"), "is_argument_input": (3, "bool"), "arg_name": (4, "bytes")},
    "OpDef": {
        "name": (1, "bytes"),
        "input": (2, "InputOutput*"),
        "output": (3, "InputOutput*"),
        "args": (4, "Argument*"),
    },
    "PipelineDef": {"op": (5, "OpDef*"), "pipe_outputs": (7, "InputOutput*")},
}
"""By message, the number and the type of each field; a star where it is repeated."""

Value = float | int | str | bool | list["Value"]


class NoPipelineError(Exception):
    """The file is not a pipeline; the message has the reason."""


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One operator: its name in DALI's registry, the names of what it takes and makes, and its arguments.

    `argument_inputs` are arguments that another operator computes.
    """

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    arguments: dict[str, Value]
    argument_inputs: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SerializedPipeline:
    """The operators in the order in which they run, and the names of the values that the pipeline returns."""

    operators: tuple[Operator, ...]
    outputs: tuple[str, ...]


def read_pipeline(content: bytes) -> SerializedPipeline:
    """Take a file apart.

    Raises:
        NoPipelineError: `Pipeline.serialize` did not write it.
    """
    if len(content) > MAX_SIZE:
        raise NoPipelineError(f"it has more than the {MAX_SIZE} bytes of a pipeline")
    pipeline = _message("PipelineDef")
    try:
        pipeline.ParseFromString(content)
    except DecodeError:
        raise NoPipelineError("it is not a serialised pipeline") from None
    if not pipeline.op or not pipeline.pipe_outputs:
        raise NoPipelineError("it is not a serialised pipeline, or has no operators or no outputs")
    return SerializedPipeline(
        operators=tuple(map(_operator, pipeline.op)),
        outputs=tuple(_text(pipe_output.name) for pipe_output in pipeline.pipe_outputs),
    )


def _operator(definition: Any) -> Operator:
    return Operator(
        name=_text(definition.name),
        inputs=tuple(_text(value.name) for value in definition.input if not value.is_argument_input),
        outputs=tuple(_text(value.name) for value in definition.output),
        arguments={_text(argument.name): _value(argument) for argument in definition.args},
        argument_inputs=tuple(_text(value.arg_name) for value in definition.input if value.is_argument_input),
    )


def _value(argument: Any) -> Value:
    """A single value, or the list of those of a vector, each of which is an argument of its own."""
    if argument.extra_args:
        return [_value(extra_argument) for extra_argument in argument.extra_args]
    single: list[Value] = [*argument.floats, *argument.ints, *map(_text, argument.strings), *argument.bools]
    return single[0] if len(single) == 1 else single


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{PACKAGE}.{name}"))()


@cache
def _pool() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name=f"{PACKAGE}.proto", package=PACKAGE, syntax="proto2")
    kinds = descriptor_pb2.FieldDescriptorProto
    for message, fields in MESSAGES.items():
        descriptor = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            label = kinds.LABEL_REPEATED if kind.endswith("*") else kinds.LABEL_OPTIONAL
            kind = kind.rstrip("*")
            if kind in MESSAGES:
                of: dict[str, Any] = {"type": kinds.TYPE_MESSAGE, "type_name": f".{PACKAGE}.{kind}"}
            else:
                of = {"type": kinds.Type.Value(f"TYPE_{kind.upper()}")}
            descriptor.field.add(name=field, number=number, label=label, **of)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return pool
