"""The shipped endpoint `resnet-pt` answers on this machine as torch does, where torch is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fleet_client import InferenceError, TritonEndpoint
from fleet_emulator.triton_backends import PACKAGES
from tests.support.clone import Clone, make_clone
from tests.support.fleet_folder import ROOT
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.project.project import open_project

torch: Any = pytest.importorskip(
    "torch", reason=f"torch is not installed: `{PACKAGES['pytorch'].install}` runs these tests"
)
pytestmark = [
    pytest.mark.triton,
    pytest.mark.cdk,
    pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning"),
]

Array = np.ndarray[Any, np.dtype[np.float32]]
ENDPOINT, TARGET = "resnet-pt", "resnet-pt-v0.tar.gz"
MODEL = ROOT / "examples/resnet_pt/models/resnet/1/model.pt"
IMAGES = np.random.default_rng(1).normal(size=(4, 3, 224, 224)).astype(np.float32)
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def clone(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    clone = make_clone(tmp_path_factory.mktemp("resnet") / "clone")
    up = clone.fleet("local", "up", ENDPOINT)
    assert up.returncode == 0, up.stderr
    yield clone
    assert clone.fleet("local", "down").returncode == 0


def compute_scores(images: Array) -> Array:
    """The scores that torch computes, without Triton."""
    with torch.inference_mode():
        answer: Array = torch.jit.load(str(MODEL))(torch.from_numpy(images)).numpy()
    return answer


def test_it_answers_json_as_the_source_sends_it(clone: Clone) -> None:
    image = {"name": "INPUT__0", "shape": [1, 3, 224, 224], "datatype": "FP32", "data": IMAGES[0].tolist()}
    answer = clone.client("sagemaker-runtime").invoke_endpoint(
        EndpointName=ENDPOINT,
        TargetModel=TARGET,
        ContentType="application/octet-stream",
        Body=json.dumps({"inputs": [image]}),
    )
    (output,) = json.loads(answer["Body"].read())["outputs"]
    assert (output["name"], output["datatype"], output["shape"]) == ("OUTPUT__0", "FP32", [1, 1000])
    assert np.abs(np.array(output["data"]) - compute_scores(IMAGES[:1])[0]).max() < TOLERANCE


def test_it_answers_a_batch_in_binary_and_refuses_one_that_is_larger_than_the_configuration_says(
    clone: Clone,
) -> None:
    endpoint = TritonEndpoint(ENDPOINT, client=clone.client("sagemaker-runtime"))
    answer = endpoint.infer({"INPUT__0": IMAGES}, target=TARGET)["OUTPUT__0"]
    assert np.abs(answer - compute_scores(IMAGES)).max() < TOLERANCE
    many = np.zeros((129, 3, 224, 224), np.float32)[:, :, :1, :1]
    with pytest.raises(InferenceError, match="batch-size must be <= 128"):
        endpoint.infer({"INPUT__0": many}, target=TARGET)


def test_the_specs_sample_is_what_torch_computes() -> None:
    (sample,) = open_project(ROOT, "dev", [ENDPOINT]).load(ENDPOINT).spec.samples
    expected_values = compute_scores(np.full((1, 3, 224, 224), 0.5, np.float32))[0, :4]
    assert sample.outputs["OUTPUT__0"].first == pytest.approx(expected_values.tolist(), abs=5e-5)


def test_status_and_tritons_log_call_the_stand_in_one(clone: Clone) -> None:
    text = "a stand-in for PyTorch's backend runs the TorchScript model, on the CPU"
    assert f"{TARGET}: resnet/config.pbtxt: {text}" in clone.fleet("local", "status").stdout
    log = clone.fleet("local", "logs", ENDPOINT).stdout
    assert f"stand-in for PyTorch's backend: torch {torch.__version__} computes model '{TARGET}'" in log
    assert "without effect here: ENABLE_CACHE_CLEANING (the cache is of a GPU's memory)" in log


def test_the_model_that_is_shipped_is_what_its_script_makes(tmp_path: Path) -> None:
    folder = tmp_path / "model.pt"
    script = ROOT / "examples/resnet_pt/make_model.py"
    subprocess.run([sys.executable, script, "--into", folder], check=True, capture_output=True)
    ours, shipped_policy = (torch.jit.load(str(file)) for file in (folder, MODEL))
    assert str(ours.inlined_graph) == str(shipped_policy.inlined_graph)
    weights = ours.state_dict()
    assert weights.keys() == shipped_policy.state_dict().keys()
    assert [
        name for name, item in shipped_policy.state_dict().items() if not torch.equal(item, weights[name])
    ] == []
