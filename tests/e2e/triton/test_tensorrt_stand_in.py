"""The stand-in for the TensorRT backend takes the plans of stand-ins alone, with the types of real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet_emulator.stand_ins.engines.trtexec import Trtexec
from tests.support.onnx_graphs import INT64, add, graph_bytes
from tests.support.triton_models import RefusedError
from tests.support.zoo_triton import ZooTriton
from triton_fleet.repository.plan import HEADER

pytestmark = pytest.mark.triton

DOUBLE = graph_bytes({"x": (INT64, ["n", 2])}, {"y": (INT64, ["n", 2])}, nodes=[add("x", "x", "y")])
CONFIG = 'platform: "tensorrt_plan"\nmax_batch_size: 8\n'
INPUT = 'input { name: "x" data_type: TYPE_INT32 dims: 2 }\n'
OUTPUT = 'output { name: "y" data_type: TYPE_INT32 dims: 2 }\n'
WIDE = (INPUT + OUTPUT).replace("32", "64")


def repository(
    folder: Path, tensorrt: str, tensors: str, *, plan: str = "model.plan", keys: str = ""
) -> Path:
    """A model that doubles INT64, built for a TensorRT."""
    version = folder / "repository/double/1"
    version.mkdir(parents=True)
    (folder / "double.onnx").write_bytes(DOUBLE)
    command = [f"--onnx={folder}/double.onnx", f"--saveEngine={version}/{plan}"]
    assert Trtexec(tensorrt, {}).answer(command) == 0
    (version.parent / "config.pbtxt").write_text(CONFIG + tensors + keys)
    return folder / "repository"


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("tensorrt", "tensors", "dtype"),
    [("8.6.1.6", INPUT + OUTPUT, np.int32), ("10.9.0.34", WIDE, np.int64)],
)
def test_a_plan_before_tensorrt_10_has_32_bits_where_its_onnx_model_has_64(
    triton: ZooTriton, tmp_path: Path, tensorrt: str, tensors: str, dtype: type[np.generic]
) -> None:
    triton.load(f"double-{tensorrt}", repository(tmp_path, tensorrt, tensors))
    answer = triton.infer(f"double-{tensorrt}", {"x": np.array([[3, -4]], dtype)}, ["y"])["y"]
    assert (answer.tolist(), answer.dtype) == ([[6, -8]], dtype)


def test_of_plans_by_compute_capability_that_of_the_stand_in_is_taken(
    triton: ZooTriton, tmp_path: Path
) -> None:
    keys = 'cc_model_filenames [ { key: "7.5" value: "t4.plan" }, { key: "8.6" value: "a10g.plan" } ]'
    files = repository(tmp_path, "10.9.0.34", WIDE, plan="a10g.plan", keys=keys)
    real = (files / "double/1/a10g.plan").read_bytes()[:HEADER] + bytes(100)
    (files / "double/1/t4.plan").write_bytes(real)
    triton.load("by-capability", files)
    x = np.array([[5, 6]], np.int64)
    assert triton.infer("by-capability", {"x": x}, ["y"])["y"].tolist() == [[10, 12]]


REFUSED_MODELS = {
    "types": (INPUT + OUTPUT, "unexpected datatype TYPE_INT64 for inference input 'x', expecting TYPE_INT32"),
    "names": (WIDE.replace('"y"', '"z"'), "unexpected inference output 'z', allowed outputs are: y"),
    "left-out": (INPUT, "model 'left-out' leaves inputs or outputs to its plan"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", REFUSED_MODELS)
def test_what_a_real_plan_would_not_fit_and_what_this_one_cannot_know_is_refused(
    triton: ZooTriton, tmp_path: Path, name: str
) -> None:
    tensors, text = REFUSED_MODELS[name]
    with pytest.raises(RefusedError, match=text):
        triton.load(name, repository(tmp_path, "10.9.0.34", tensors))


def test_a_real_plan_is_refused_with_the_remedy(triton: ZooTriton, tmp_path: Path) -> None:
    files = repository(tmp_path, "10.9.0.34", WIDE)
    plan = files / "double/1/model.plan"
    plan.write_bytes(plan.read_bytes()[:HEADER] + bytes(100))
    with pytest.raises(
        RefusedError, match="model 'real', model.plan: it is a real plan of TensorRT 10.9.0.34"
    ):
        triton.load("real", files)
