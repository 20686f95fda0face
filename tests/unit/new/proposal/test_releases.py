"""Plans, backends and Python environments decide a proposed spec's release, GPU and engines."""

from __future__ import annotations

import pytest

from tests.support.new_specs import CODE, GRAPH, TENSORS, NewSpecs, plan
from tests.support.onnx_graphs import FLOAT, add, graph_bytes
from tests.support.repository_archives import gzip_bytes, tar_of
from triton_fleet.findings import FindingsError

OPEN = graph_bytes({"x": (FLOAT, ["n", "m"])}, {"y": (FLOAT, ["n", "m"])}, nodes=[add("x", "x", "y")])
VARIES = 'max_batch_size: 8 input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]'


def release_of(capability: str) -> str:
    return f'cc_model_filenames {{ key: "{capability}" value: "a.plan" }}'


def test_a_plan_takes_the_newest_release_with_its_tensorrt_and_asks_for_its_gpu(new: NewSpecs) -> None:
    new.tensorrt("bert", {"1/model.plan": plan(8, 6, 1, 6)})
    text = new.text()
    assert new.spec().triton == "24.01"
    assert (
        "bert/1/model.plan was built with TensorRT 8.6.1.6; the image of Triton 24.03 has 8.6.3"
        in new.refusal_text(text)
    )
    assert "Undecided: no plan records the GPU that built it" in new.refusal_text(text)
    assert "FL297" in text
    assert new.passes(text)


def test_a_plan_that_is_named_for_one_gpu_takes_an_instance_with_it(new: NewSpecs) -> None:
    new.tensorrt("bert", {"1/a.plan": plan(10, 9, 0, 34)}, release_of("8.6"))
    text = new.text()
    spec = new.spec()
    assert (spec.triton, spec.instance.type, spec.models[0].built_on) == (
        "25.04",
        "ml.g5.xlarge",
        "ml.g5.xlarge",
    )
    assert "# Not ml.g4dn.xlarge: model 'bert' has plans for compute capability 8.6" in text
    assert new.findings() == []


def test_of_a_number_that_several_gpus_have_it_is_not_said_which_built_it(new: NewSpecs) -> None:
    new.tensorrt("bert", {"1/a.plan": plan(10, 9, 0, 34)}, release_of("8.9"))
    text = new.text()
    assert (new.spec().instance.type, new.spec().models[0].built_on) == ("ml.g6.xlarge", None)
    assert new.passes(text)


def test_a_backend_that_has_left_triton_takes_a_release_that_has_it(new: NewSpecs) -> None:
    files = {"1/model.savedmodel/saved_model.pb": b"x"}
    new.model("inception", f'platform: "tensorflow_savedmodel" {TENSORS}', files)
    text = new.text()
    assert new.spec().triton == "24.09"
    assert "not 25.04: model 'inception' has the tensorflow backend" in new.refusal_text(text)
    assert new.findings() == []


def test_a_python_environment_takes_a_release_with_its_python(new: NewSpecs) -> None:
    environment = {"bin/activate": b"", "bin/python3.10": b"", "lib/python3.10/site-packages/x.py": b""}
    path = "$$TRITON_MODEL_DIRECTORY/env.tar.gz"
    parameter = f'parameters {{ key: "EXECUTION_ENV_PATH" value {{ string_value: "{path}" }} }}'
    files = {"1/model.py": CODE, "env.tar.gz": gzip_bytes(tar_of(environment))}
    new.model("embed", f'backend: "python" {TENSORS} {parameter}', files)
    text = new.text()
    assert new.spec().triton == "24.09"
    assert "not 25.04: " in new.refusal_text(text)
    assert new.findings() == []


def test_gpus_by_number_take_an_instance_that_has_them(new: NewSpecs) -> None:
    new.onnx("embed", "instance_group { kind: KIND_GPU gpus: [0, 1] }")
    new.text()
    assert new.spec().instance.type == "ml.g4dn.12xlarge"
    assert new.findings() == []


@pytest.mark.parametrize("place", ["bert/1/model.onnx", "bert/export.onnx", "bert.onnx", "../bert.onnx"])
def test_an_onnx_model_beside_a_model_without_plan_becomes_its_engine(new: NewSpecs, place: str) -> None:
    new.tensorrt("bert", {"1/": b""}, "dynamic_batching { preferred_batch_size: [4] }")
    (new.models / place).write_bytes(GRAPH)
    text = new.text()
    (engine,) = new.spec().models[0].engines
    onnx = new.fleet.root / "model_specs" / engine.onnx
    assert (engine.model, onnx.resolve()) == ("bert", (new.models / place).resolve())
    assert engine.shapes == {"x": ("1x2", "4x2", "8x2")}
    assert "bert uses the TensorRT backend and has no plan" in new.refusal_text(text)
    assert new.passes(text)


def test_dimensions_that_a_graph_leaves_open_are_guessed_and_said_to_be(new: NewSpecs) -> None:
    new.model("bert", f'platform: "tensorrt_plan" {VARIES}', {"model.onnx": OPEN})
    text = new.text()
    (engine,) = new.spec().models[0].engines
    assert engine.shapes == {"x": ("1x1", "1x128", "8x512")}
    assert "Guessed: the ONNX model leaves dimensions of x open" in new.refusal_text(text)
    assert new.findings() == []


def test_a_graph_that_is_unlike_its_configuration_is_refused(new: NewSpecs) -> None:
    graph = graph_bytes(
        {"other": (FLOAT, ["n", 2])}, {"y": (FLOAT, ["n", 2])}, nodes=[add("other", "other", "y")]
    )
    new.tensorrt("bert", {"model.onnx": graph})
    with pytest.raises(
        FindingsError, match="FL395: model 'bert' has an input 'x', but its ONNX model does not"
    ):
        new.text()


def test_without_plan_and_onnx_model_it_is_refused(new: NewSpecs) -> None:
    new.tensorrt("bert", {"1/notes.md": b"none"})
    with pytest.raises(FindingsError, match=r"FL456: unable to find 'bert/1/model.plan'"):
        new.text()


def test_plans_of_two_tensorrts_are_refused(new: NewSpecs) -> None:
    new.tensorrt("old", {"1/model.plan": plan(8, 6, 1, 6)})
    new.tensorrt("young", {"1/model.plan": plan(10, 9, 0, 34)})
    new.ensemble("all", "old", "young")
    with pytest.raises(FindingsError) as refusal:
        new.text()
    rows = {(finding.code, finding.file, finding.line) for finding in refusal.value.findings}
    assert ("FL256", new.models, None) in rows
    assert new.fleet.root / "model_specs" not in {
        finding.file.parent for finding in refusal.value.findings if finding.file
    }
