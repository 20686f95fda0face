"""A plan of the stand-in of trtexec is told from a real one, and taken apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_emulator.stand_ins.engines.stand_in_plan import NoStandInError, read_stand_in_plan
from fleet_emulator.stand_ins.engines.trtexec import Trtexec
from tests.support.onnx_graphs import FLOAT, add, graph_bytes
from triton_fleet.repository.plan import HEADER

ONNX = graph_bytes({"x": (FLOAT, ["n", 2])}, {"y": (FLOAT, ["n", 2])}, nodes=[add("x", "x", "y")])
REMEDY = "name its ONNX model under `engines` in the spec, and this machine builds a stand-in"


@pytest.fixture
def plan(tmp_path: Path) -> bytes:
    (tmp_path / "model.onnx").write_bytes(ONNX)
    command = [f"--onnx={tmp_path}/model.onnx", f"--saveEngine={tmp_path}/model.plan"]
    assert Trtexec("10.9.0.34", {}).answer(command) == 0
    return (tmp_path / "model.plan").read_bytes()


def test_a_plan_of_the_stand_in_tells_its_tensorrt_and_has_the_onnx_model(plan: bytes) -> None:
    read = read_stand_in_plan(plan)
    assert (read.tensorrt, read.model) == ("10.9.0.34", ONNX)
    assert [output.name for output in (*read.graph.inputs, *read.graph.outputs)] == ["x", "y"]


@pytest.mark.parametrize("rest", [b"", b"\0" * 4000, bytes(range(256)) * 20])
def test_a_real_plan_is_refused_with_its_version_and_the_remedy(plan: bytes, rest: bytes) -> None:
    with pytest.raises(NoStandInError, match=f"a real plan of TensorRT 10.9.0.34, .*{REMEDY}"):
        read_stand_in_plan(plan[:HEADER] + rest)


@pytest.mark.parametrize("content", [b"", b"a plan", ONNX])
def test_another_file_is_refused_as_one(content: bytes) -> None:
    with pytest.raises(NoStandInError, match=f"no plan whose TensorRT is known, .*{REMEDY}"):
        read_stand_in_plan(content)
