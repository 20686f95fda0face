"""One engine is compiled, from a folder to a folder; trtexec and nvidia-smi are stand-ins."""

from __future__ import annotations

import hashlib
import json

from engine_request.files import PLAN, RECORD
from tests.support.engine_builds import ARGUMENTS, ONNX, TENSORRT, EngineStore
from triton_fleet.repository.plan import HEADER, plan_version


def test_the_plan_is_left_with_the_record_of_its_build(store: EngineStore) -> None:
    request = store.request()
    assert store.compile(request) == 0
    plan, record = (store.outputs / PLAN).read_bytes(), json.loads((store.outputs / RECORD).read_bytes())
    assert plan_version(plan) == TENSORRT
    assert plan[HEADER:] == ONNX
    assert record["plan"] == {"digest": f"sha256:{hashlib.sha256(plan).hexdigest()}", "size": len(plan)}
    assert (record["key"], record["tensorrt"]) == (request.key, TENSORRT)
    assert record["gpu"]["name"] == "NVIDIA A10G (stand-in)"
    assert record["gpu"]["compute_capability"] == "8.6"
    assert isinstance(record["build_seconds"], float)
    assert record["figures"] == {}, "the stand-in measures nothing, and nothing is made up"


def test_trtexec_is_called_to_build_and_then_to_run_the_plan_with_its_usual_shapes(
    store: EngineStore,
) -> None:
    request = store.request()
    assert store.compile(request) == 0
    lines, loaded_lines = (call for call in store.calls if call[0] == "trtexec")
    assert [argument.partition("=")[0] for argument in lines[1:3]] == ["--onnx", "--saveEngine"]
    assert lines[3:] == list(ARGUMENTS)
    assert loaded_lines[1].partition("=")[2] == lines[2].partition("=")[2], "the plan that was just built"
    assert "--shapes=left:4x2,right:4x2" in loaded_lines
    assert "--skipInference" not in loaded_lines


def test_no_build_reads_what_another_one_has_measured(store: EngineStore) -> None:
    """A cache of timings would let one endpoint's build decide about another's plan."""
    assert store.compile(store.request()) == 0
    assert not [line for call in store.calls for line in call if "timingCache" in line]
