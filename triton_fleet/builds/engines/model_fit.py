"""Whether an engine fits its model: its shapes, and the inputs and outputs of its plan.

An optimisation profile is the smallest, the usual and the largest shape of each input that varies. Sources:
TensorRT developer guide, dynamic shapes; NVIDIA/TensorRT samples/common/sampleEngines.cpp @v10.9.0, which
uses 1 for a dimension that varies and has no shape; tensorrt_backend, src/instance_state.cc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from triton_fleet.catalog.releases import numbers
from triton_fleet.repository.config.message import ANY_SIZE, ParsedConfig
from triton_fleet.repository.contents import OnnxHeader
from triton_fleet.spec.engine import Engine
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

Dims: TypeAlias = tuple[int, ...]
"""Of a tensor with its batch; -1 where one varies."""


def profile_misfits(engine: Engine, config: ParsedConfig, graph: OnnxHeader | None) -> Iterator[Misfit]:
    """Contradictions between an engine's shapes and the inputs of its model.

    Args:
        engine: As the spec has it.
        config: That of its model; it may be empty.
        graph: The ONNX model's inputs; None where they cannot be read.
    """
    graph_shapes = {} if graph is None else {tensor.name: tensor.shape for tensor in graph.inputs}
    names = [tensor.name for tensor in config.message.input] if graph is None else list(graph_shapes)
    whose = f"model {config.name!r}" if graph is None else f"the ONNX model of {config.name!r}"
    dims = input_dims(config, graph)
    for name, shapes in engine.shapes.items():
        if names and name not in names:
            yield Misfit(("shapes", name), f"{whose} has no input {name!r}", did_you_mean(name, names))
        elif name in dims:
            yield from _of_shapes(config.name, name, shapes, dims[name], graph_shapes.get(name))
    for name, axes in dims.items():
        if ANY_SIZE in axes and name not in engine.shapes:
            message = (
                f"input {name!r} of {whose} has variable dimensions {_format_dims(axes)}, but no `shapes`"
            )
            hint = (
                f"write `{name}: [SMALLEST, USUAL, LARGEST]`; trtexec would use 1 for each variable dimension"
            )
            yield Misfit(("shapes",), message, hint)
    if not names and config.message.max_batch_size > 0 and not engine.shapes:
        message = f"{whose} has max_batch_size {config.message.max_batch_size} but its engine has no `shapes`"
        yield Misfit((), message, "write the smallest, the usual and the largest shape of each input")
    of_shapes = {tensor.name for tensor in config.message.input if tensor.is_shape_tensor}
    with_batch = [
        name
        for name, shapes in sorted(engine.shapes.items())
        if name not in of_shapes and _has_rank(shapes, dims.get(name))
    ]
    if config.message.max_batch_size > 0 and with_batch:
        yield from _of_batches(with_batch, engine, config)


def config_dims(tensor: Any, config: ParsedConfig) -> Dims | None:
    """A tensor's dimensions as the plan has to have them; None where the config leaves them open."""
    is_ragged = getattr(tensor, "allow_ragged_batch", False)
    if tensor.is_shape_tensor or is_ragged or not tensor.dims:
        return None
    batch = (ANY_SIZE,) if config.message.max_batch_size > 0 else ()
    return (*batch, *(tensor.reshape.shape if tensor.HasField("reshape") else tensor.dims))


def input_dims(config: ParsedConfig, graph: OnnxHeader | None) -> Mapping[str, Dims]:
    """The dimensions of each input that config or graph fix, without inputs that hold a shape."""
    special = {
        tensor.name for tensor in config.message.input if tensor.is_shape_tensor or tensor.allow_ragged_batch
    }
    dims_by_name = {tensor.name: config_dims(tensor, config) for tensor in config.message.input}
    for tensor in () if graph is None else graph.inputs:
        mine = dims_by_name.get(tensor.name)
        if mine is None or (tensor.shape is not None and len(mine) != len(tensor.shape)):
            dims_by_name[tensor.name] = tensor.shape
        elif tensor.shape is not None:
            dims_by_name[tensor.name] = tuple(
                a if a != ANY_SIZE else b for a, b in zip(tensor.shape, mine, strict=True)
            )
    names = dims_by_name.keys() if graph is None else {tensor.name for tensor in graph.inputs}
    return {name: dims for name, dims in dims_by_name.items() if dims is not None and name in names - special}


def _of_shapes(
    model: str, name: str, shapes: Sequence[str], dims: Dims, in_graph: Dims | None
) -> Iterator[Misfit]:
    sizes_by_shape = [_parse_shape(shape) for shape in shapes]
    subject = f"input {name!r} of model {model!r} is {_format_dims(dims)}"
    if not _has_rank(shapes, dims):
        batch = ", the batch first" if dims[:1] == (ANY_SIZE,) else ""
        message = f"{subject}; its shapes are {', '.join(shapes)}"
        yield Misfit(("shapes", name), message, f"write {len(dims)} dimensions{batch}")
        return
    for at, size in enumerate(dims):
        sizes = [shape[at] for shape in sizes_by_shape]
        if size != ANY_SIZE and set(sizes) != {size}:
            certain = (in_graph is not None and in_graph[at] != ANY_SIZE) or not min(sizes) <= size <= max(
                sizes
            )
            message = f"{subject}; its shapes have {', '.join(map(str, sizes))} as dimension {at + 1}"
            yield Misfit(("shapes", name), message, f"write {size} in all three", certain=certain)


def _has_rank(shapes: Sequence[str], dims: Dims | None) -> bool:
    return dims is None or all(len(_parse_shape(shape)) == len(dims) for shape in shapes)


def _of_batches(names: Sequence[str], engine: Engine, config: ParsedConfig) -> Iterator[Misfit]:
    """Breaches of the limits of a model that batches; of `max_batch_size` itself, engine-without-model."""
    for name in names:
        if (smallest_batch := _parse_shape(engine.shapes[name][0])[0]) > 1:
            message = f"the smallest batch of {name!r} is {smallest_batch}: a call with one item is refused"
            yield Misfit(("shapes", name), message, "write a smallest batch of 1", certain=False)
    name = names[0]
    smallest, usual, largest = (_parse_shape(shape)[0] for shape in engine.shapes[name])
    preferences = list(config.message.dynamic_batching.preferred_batch_size)
    for size in preferences:
        if not smallest <= size <= largest:
            message = (
                f"model {config.name!r} prefers batches of {size}, but its engine accepts {smallest} to"
                f" {largest}"
            )
            yield Misfit(("shapes", name), message, "change the shapes, or preferred_batch_size")
    if preferences and usual not in preferences:
        sizes = ", ".join(map(str, preferences))
        message = f"the engine is optimised for batches of {usual}; model {config.name!r} prefers {sizes}"
        yield Misfit(("shapes", name), message, f"write a usual batch of {preferences[-1]}", certain=False)


def _parse_shape(shape: str) -> Dims:
    return tuple(map(int, shape.split("x")))


def _format_dims(dims: Dims) -> str:
    return f"[{', '.join(map(str, dims))}]"


def graph_misfits(config: ParsedConfig, graph: OnnxHeader, tensorrt: str) -> Iterator[Misfit]:
    """Tensors of the config that Triton would not find in the plan: names and types are the ONNX model's.

    Args:
        config: That of the model; what it leaves open, Triton takes from the plan.
        graph: The ONNX model's inputs and outputs.
        tensorrt: The version that builds the plan.
    """
    for kind, tensors in (("input", graph.inputs), ("output", graph.outputs)):
        graph_tensors = {tensor.name: tensor for tensor in tensors}
        for entry in getattr(config.message, kind):
            if entry.name not in graph_tensors:
                message = f"model {config.name!r} has an {kind} {entry.name!r}, but its ONNX model does not"
                yield Misfit(("onnx",), message, did_you_mean(entry.name, list(graph_tensors)))
                continue
            tensor, dims = graph_tensors[entry.name], config_dims(entry, config)
            type_name, has = config.enum(entry, "data_type"), plan_type(tensor.data_type, tensorrt)
            if entry.data_type and has and type_name != has:
                message = (
                    f"{kind} {entry.name!r} of model {config.name!r} is {type_name}; its plan will have {has}"
                )
                hint = f"write `data_type: {has}`, or export the ONNX model again"
                yield Misfit(("onnx",), message, hint, certain=False)
            max_batch_size = config.message.max_batch_size
            if (
                dims is not None
                and tensor.shape is not None
                and not _agree(dims, tensor.shape, max_batch_size)
            ):
                message = (
                    f"{kind} {entry.name!r} of model {config.name!r} is {list(dims)} with its batch; the"
                    f" ONNX model has {list(tensor.shape)}"
                )
                hint = (
                    "correct `dims` and `max_batch_size`, or export the ONNX model with variable dimensions"
                )
                yield Misfit(("onnx",), message, hint, certain=kind == "input")


def _agree(dims: Dims, shape: Dims, max_batch_size: int) -> bool:
    """Whether a plan of that shape fits the config; what varies in either of them agrees."""
    if len(dims) != len(shape) or (max_batch_size > 0 and ANY_SIZE != shape[0] < max_batch_size):
        return False
    return all(ANY_SIZE in pair or len(set(pair)) == 1 for pair in zip(dims, shape, strict=True))


@dataclass(frozen=True)
class Misfit:
    """One thing: the key below the engine's own, the message, and what to write instead.

    If it is not `certain`, the engine is built, and may serve.
    """

    below: KeyPath
    message: str
    hint: str
    certain: bool = True


KEEPS_INT64 = "10.0"
"""The first TensorRT whose plans take 64 bits; the others take such a tensor as INT32."""


def plan_type(data_type: str, tensorrt: str) -> str:
    """That of a plan of the version `tensorrt`; a precision, such as `--fp16`, changes none."""
    is_narrow = data_type == "TYPE_INT64" and numbers(tensorrt) < numbers(KEEPS_INT64)
    return "TYPE_INT32" if is_narrow else data_type
