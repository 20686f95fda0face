"""All that is shipped comes up by one command; each hosting mode answers both payloads and publishes metrics."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from clone import Clone, make_clone
from fleet.local.triton.runtime import TritonRuntime
from fleet.spec.project import endpoint_names
from fleet_client import TritonEndpoint
from fleet_client.codec import decode, encode

pytestmark = [pytest.mark.triton, pytest.mark.cdk]

BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
IMAGE = np.full((224, 224, 3), 128, np.uint8)
SENTENCE = {"INPUT0": np.array([["A man is eating food."]], dtype=np.object_)}
MODES: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "a single model": ("resnet50", None, {"gpu_0/data_0": np.zeros((1, 3, 224, 224), np.float32)}),
    "a single model, an ensemble": ("sentence-embeddings", None, SENTENCE),
    "several models": (
        "bert-trt",
        "bert-3.tar.gz",
        {name: np.ones((1, 128), np.int32) for name in ("token_ids", "attn_mask")},
    ),
    "several models, ensembles among them": ("model-zoo", "image-classes.tar.gz", {"image": IMAGE}),
    "several ensembles": ("gpu-ensembles", "model-trt-python.tar.gz", SENTENCE),
}
"""The shipped endpoint, the target that is called and its inputs."""
MAKE = (
    "model_zoo/make_models.py",
    "bert_trt/make_model.py",
    "gpu_ensembles/make_image_models.py",
    "gpu_ensembles/make_text_models.py",
    "gpu_ensembles/make_environment.py",
)


@pytest.fixture(scope="module")
def clone(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clone]:
    """A clone with everything that is shipped, deployed by one command, which sends the specs' samples."""
    clone = make_clone(tmp_path_factory.mktemp("modes") / "clone")
    for script in MAKE:
        subprocess.run([sys.executable, clone.root / "examples" / script], check=True, capture_output=True)
    up = clone.fleet("local", "up")
    assert up.returncode == 0, up.stderr
    (clone.root / "up.txt").write_text(up.stderr)
    yield clone
    assert clone.fleet("local", "down").returncode == 0


def test_every_shipped_endpoint_is_in_service_but_one_whose_package_is_missing_which_is_said(
    clone: Clone,
) -> None:
    told = (clone.root / "up.txt").read_text()
    left_out = set() if find_spec("torch") else {"resnet-pt"}
    assert ("FL383" in told) == bool(left_out)
    served = {each["EndpointName"] for each in clone.client("sagemaker").list_endpoints()["Endpoints"]}
    assert served == set(endpoint_names(clone.root)) - left_out


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_answers_json_and_binary_json_alike(clone: Clone, mode: str) -> None:
    name, target, inputs = MODES[mode]
    endpoint = TritonEndpoint(name, client=clone.client("sagemaker-runtime"))
    json, binary = (endpoint.invoke(encode(inputs, binary=each), target=target) for each in (False, True))
    assert json.content_type == "application/json"
    assert binary.content_type.startswith(BINARY)
    answers = [decode(each.body, each.content_type) for each in (json, binary)]
    assert answers[0].keys() == answers[1].keys()
    for output, array in answers[0].items():
        assert np.allclose(array, answers[1][output], atol=1e-6), output


def test_each_mode_publishes_tritons_metrics_in_the_endpoints_own_namespace(clone: Clone) -> None:
    for name, target, inputs in MODES.values():
        TritonEndpoint(name, client=clone.client("sagemaker-runtime")).infer(inputs, target=target)
    done = clone.fleet("dashboard", "resnet50", "--env", "local")
    assert done.returncode == 0, done.stderr
    found = clone.client("cloudwatch").list_metrics(MetricName="nv_inference_request_success")["Metrics"]
    assert {each["Namespace"] for each in found} == {f"TritonFleet/{name}" for name, _, _ in MODES.values()}
