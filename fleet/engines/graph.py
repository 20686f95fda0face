"""Whether the plan of an ONNX model has the inputs and outputs that its model's config.pbtxt declares.

Source: triton-inference-server/tensorrt_backend, src/instance_state.cc, ValidateIO.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.engines.mismatch import Misfit
from fleet.engines.plan_type import plan_type
from fleet.engines.profile import ANY, Dims, config_dims
from fleet.repository.config.message import ParsedConfig
from fleet.repository.onnx.header import OnnxHeader
from fleet.spec.problems import did_you_mean


def graph_misfits(config: ParsedConfig, graph: OnnxHeader, tensorrt: str) -> Iterator[Misfit]:
    """What Triton would not find in the plan as the config has it: names and types are the ONNX model's.

    Args:
        config: That of the model; what it leaves open, Triton takes from the plan.
        graph: The ONNX model's inputs and outputs.
        tensorrt: The version that builds the plan.
    """
    for kind, tensors in (("input", graph.inputs), ("output", graph.outputs)):
        there = {each.name: each for each in tensors}
        for declared in getattr(config.message, kind):
            if declared.name not in there:
                message = f"model {config.name!r} has an {kind} {declared.name!r}, and its ONNX model has not"
                yield Misfit(("onnx",), message, did_you_mean(declared.name, list(there)))
                continue
            tensor, dims = there[declared.name], config_dims(declared, config)
            said, has = config.enum(declared, "data_type"), plan_type(tensor.data_type, tensorrt)
            if declared.data_type and has and said != has:
                message = (
                    f"{kind} {declared.name!r} of model {config.name!r} is {said}; its plan will have {has}"
                )
                hint = f"write `data_type: {has}`, or export the ONNX model anew"
                yield Misfit(("onnx",), message, hint, certain=False)
            most = config.message.max_batch_size
            if dims is not None and tensor.shape is not None and not _agree(dims, tensor.shape, most):
                message = (
                    f"{kind} {declared.name!r} of model {config.name!r} is {list(dims)} with its batch; the"
                    f" ONNX model has {list(tensor.shape)}"
                )
                hint = (
                    "correct `dims` and `max_batch_size`, or export the ONNX model with dimensions that vary"
                )
                yield Misfit(("onnx",), message, hint, certain=kind == "input")


def _agree(dims: Dims, shape: Dims, max_batch_size: int) -> bool:
    """Whether a plan of that shape serves what the config says; what varies in either of them agrees."""
    if len(dims) != len(shape) or (max_batch_size > 0 and ANY != shape[0] < max_batch_size):
        return False
    return all(ANY in pair or len(set(pair)) == 1 for pair in zip(dims, shape, strict=True))
