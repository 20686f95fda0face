"""A plan of the stand-in of trtexec, taken apart: the TensorRT that it names, and the ONNX model."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.repository.contents import OnnxHeader
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.plan import HEADER, plan_version
from triton_fleet.repository.stream import Stream


class NoStandInError(Exception):
    """The file is not a plan of the stand-in; the message names what it is, and the remedy."""


@dataclass(frozen=True)
class StandInPlan:
    """The version of its TensorRT, the ONNX model, and the inputs and outputs that the model declares."""

    tensorrt: str
    model: bytes
    graph: OnnxHeader


def read_stand_in_plan(content: bytes) -> StandInPlan:
    """Take a plan apart.

    Raises:
        NoStandInError: it is a real plan, or none.
    """
    tensorrt, model = plan_version(content), content[HEADER:]
    graph = read_header(Stream(model), len(model))
    if tensorrt and graph.outputs and not graph.problem:
        return StandInPlan(tensorrt, model, graph)
    kind = f"a real plan of TensorRT {tensorrt}" if tensorrt else "no plan whose TensorRT is known"
    raise NoStandInError(
        f"it is {kind}, which only a GPU can run: name its ONNX model under `engines` in the spec, and this"
        " machine builds a stand-in of the plan, which it can serve"
    )
