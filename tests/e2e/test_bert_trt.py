"""The shipped endpoint `bert-trt` answers on a real Triton, by engines that a stand-in built and another runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import onnxruntime
import pytest

from fleet_client import InferenceError
from tests.support.deployed_example import DeployedExample, Example, deploy_example
from tests.support.embedded_app.clients import client
from tests.support.fleet_folder import ROOT
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.project.project import open_project
from triton_fleet.repository.plan import HEADER
from triton_fleet.spec.environment import LocalLimits

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

Array = np.ndarray[Any, np.dtype[np.int32]]
BERT = Example("bert-trt", "bert_trt", {"make_model.py": "model.onnx"})
TARGETS = [f"bert-{number}.tar.gz" for number in range(6)]
TARGET_CALLS = [TARGETS[number] for number in (0, 1, 2, 5, 5)]
IDS = np.random.default_rng(1).integers(0, 30_522, (1, 128), dtype=np.int32)
MASK = (np.arange(128) < 40).astype(np.int32)[None]
ROOM_FOR_FEW = LocalLimits.model_validate({"model_memory": "105MiB"})
"""One takes some 55 MiB, and each of several less, as they share the pages of libraries."""
TOLERANCE = 1e-5


@pytest.fixture(scope="module")
def berts(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedExample]:
    with deploy_example(BERT, runtime, tmp_path_factory.mktemp("berts"), ROOM_FOR_FEW) as berts:
        yield berts


def onnx_of(berts: DeployedExample) -> bytes:
    return (berts.bucket.root / "examples/bert_trt/model.onnx").read_bytes()


def expected_outputs(berts: DeployedExample, ids: Array, mask: Array) -> dict[str, Any]:
    """The values that the ONNX model computes, without Triton."""
    ort: Any = onnxruntime
    session = ort.InferenceSession(onnx_of(berts), providers=["CPUExecutionProvider"])
    names = ["output", "pooled_output"]
    return dict(zip(names, session.run(names, {"token_ids": ids, "attn_mask": mask}), strict=True))


def test_one_engine_is_built_for_six_archives_whose_models_have_names_of_their_own(
    berts: DeployedExample,
) -> None:
    assert len(berts.bucket.builds) == berts.publication.engines == 1
    (endpoint,) = berts.bucket.artifacts.endpoints
    for number, target in enumerate(TARGETS):
        files = berts.bucket.files(f"{endpoint.model_data}{target}")
        assert list(files) == [f"bert_{number}/config.pbtxt", f"bert_{number}/1/model.plan"]
        assert files[f"bert_{number}/config.pbtxt"].startswith(f'name: "bert_{number}"\n'.encode())
        assert files[f"bert_{number}/1/model.plan"][HEADER:] == onnx_of(berts)


def test_targets_answer_json_as_the_source_sends_it_and_metrics_show_who_comes_and_goes(
    berts: DeployedExample,
) -> None:
    runtime, expected_values = client(berts.aws, "sagemaker-runtime"), expected_outputs(berts, IDS, MASK)
    inputs = [
        {"name": name, "shape": [1, 128], "datatype": "INT32", "data": item.ravel().tolist()}
        for name, item in (("token_ids", IDS), ("attn_mask", MASK))
    ]
    for target in TARGET_CALLS:
        answer = runtime.invoke_endpoint(
            EndpointName=BERT.endpoint,
            TargetModel=target,
            ContentType="application/octet-stream",
            Body=json.dumps({"inputs": inputs}),
        )
        outputs = {output["name"]: output for output in json.loads(answer["Body"].read())["outputs"]}
        assert {name: output["shape"] for name, output in outputs.items()} == {
            "output": [1, 128, 768],
            "pooled_output": [1, 768],
        }
        for name, expected_value in expected_values.items():
            assert np.abs(np.array(outputs[name]["data"]) - expected_value.ravel()).max() < TOLERANCE

    number = len(berts.loaded_models())
    assert number < 4
    assert berts.metric("/aws/sagemaker/Endpoints", "LoadedModelCount", "Maximum") == number
    assert berts.metric("AWS/SageMaker", "ModelUnloadingTime", "SampleCount") == 4 - number
    assert berts.metric("AWS/SageMaker", "ModelLoadingTime", "SampleCount") == 4
    hit = {text: berts.metric("AWS/SageMaker", "ModelCacheHit", text) for text in ("SampleCount", "Sum")}
    assert hit == {"SampleCount": 5, "Sum": 1}


def test_a_batch_of_the_largest_shape_is_answered_in_binary_and_a_larger_one_refused(
    berts: DeployedExample,
) -> None:
    ids = np.random.default_rng(2).integers(0, 30_522, (129, 128), dtype=np.int32)
    mask = np.ones_like(ids)
    answer = berts.endpoint.infer({"token_ids": ids[:128], "attn_mask": mask[:128]}, target=TARGETS[5])
    expected_values = expected_outputs(berts, ids[:128], mask[:128])
    assert {
        name: np.abs(answer[name] - expected_value).max() < TOLERANCE
        for name, expected_value in expected_values.items()
    } == {
        "output": True,
        "pooled_output": True,
    }
    with pytest.raises(InferenceError, match="batch-size must be <= 128"):
        berts.endpoint.infer({"token_ids": ids, "attn_mask": mask}, target=TARGETS[5])


def test_the_specs_sample_is_what_the_graph_answers(berts: DeployedExample) -> None:
    (sample,) = open_project(ROOT, "dev", [BERT.endpoint]).load(BERT.endpoint).spec.samples
    assert sample.target == "bert-0"
    ids, mask = np.full((1, 128), 101, np.int32), np.ones((1, 128), np.int32)
    first = sample.outputs["pooled_output"].first
    computed_values = expected_outputs(berts, ids, mask)["pooled_output"][0, :4]
    assert first == pytest.approx(computed_values.tolist(), abs=5e-5)


def test_status_and_tritons_log_call_the_stand_in_one(berts: DeployedExample) -> None:
    text = "a stand-in for TensorRT runs the ONNX model of its plan, on the CPU"
    assert f"bert-5.tar.gz: bert_5/config.pbtxt: {text}" in berts.report["differences"]
    log = berts.log.read_text()
    said_text = "stand-in for TensorRT 10.9.0.34: ONNX Runtime computes model 'bert-5.tar.gz' on the CPU"
    assert said_text in log
