"""The shipped endpoint `gpu-ensembles` answers on a real Triton, its Python models in the environment that they bring."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime
import pytest
import tritonclient.http

from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.pipeline_file import read_pipeline
from tests.support.deployed_example import DeployedExample, Example, deploy_example
from tests.support.embedded_app.clients import client
from tests.support.fleet_folder import ROOT
from tests.support.minilm_reference import embed
from tests.support.real_dali import encode_image, scene
from triton_fleet.builds.engines.artifacts import MANIFEST, built_key
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.repository.plan import HEADER
from triton_fleet.spec.environment import LocalLimits

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

SCRIPTS = {
    "make_image_models.py": "models/image/inception_onnx",
    "make_text_models.py": ".",
    "make_environment.py": "models/text",
}
ENSEMBLES = Example("gpu-ensembles", "gpu_ensembles", SCRIPTS)
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
IMAGES, TEXT = "model-tf-dali.tar.gz", "model-trt-python.tar.gz"
SENTENCES = ["Sentence 1", "Sentence 2"]
TOLERANCE = 1e-4
http: Any = tritonclient.http  # it has no types
ort: Any = onnxruntime
Array = np.ndarray[Any, np.dtype[np.float32]]


@pytest.fixture(scope="module")
def ensembles(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeployedExample]:
    folder = tmp_path_factory.mktemp("ensembles")
    with deploy_example(ENSEMBLES, runtime, folder, LocalLimits()) as ensembles:
        yield ensembles


def test_a_job_of_sagemaker_builds_the_engine_on_a_gpu_of_the_endpoints_own_family(
    ensembles: DeployedExample,
) -> None:
    bucket = ensembles.bucket
    (resolved_endpoint,) = bucket.artifacts.endpoints
    (engine,) = resolved_endpoint.engines
    manifest = json.loads(bucket.artifacts.body(built_key(engine.build.key, MANIFEST)))
    assert manifest["gpu"]["name"] == "NVIDIA T4 (stand-in)"
    assert manifest["by"].startswith("engine-"), "it names the job; a build of CodeBuild's own is PROJECT:ID"
    plan = bucket.files(f"{resolved_endpoint.model_data}{TEXT}")["bert-trt/1/model.plan"]
    assert plan[HEADER:] == (bucket.root / "examples/gpu_ensembles/bert.onnx").read_bytes()


def probabilities(root: Path, encoded_content: bytes) -> Array:
    """Inception's answer to an image, computed without Triton from the pixels of the stand-in for DALI."""
    models = root / "examples/gpu_ensembles/models/image"
    dali = Graph(read_pipeline((models / "dali/1/model.dali").read_bytes()))
    pixels = dali.run({"DALI_INPUT_0": np.frombuffer(encoded_content, np.uint8)})[0]
    onnx = models / "inception_onnx/1/model.onnx"
    session = ort.InferenceSession(onnx, providers=["CPUExecutionProvider"])
    (answer,) = session.run(["InceptionV3/Predictions/Softmax"], {"input": pixels[None]})
    return np.asarray(answer)


def test_an_encoded_image_in_json_as_the_source_sends_it_becomes_1001_probabilities(
    ensembles: DeployedExample,
) -> None:
    jpeg = encode_image(scene(240, 320), "JPEG", quality=90)
    tensor = {"name": "INPUT", "shape": [1, len(jpeg)], "datatype": "UINT8", "data": [list(jpeg)]}
    answer = client(ensembles.aws, "sagemaker-runtime").invoke_endpoint(
        EndpointName=ENSEMBLES.endpoint,
        TargetModel=IMAGES,
        ContentType="application/octet-stream",
        Body=json.dumps({"inputs": [tensor]}),
    )
    (output,) = json.loads(answer["Body"].read())["outputs"]
    assert (output["name"], output["shape"]) == ("OUTPUT", [1, 1001])
    expected_array = probabilities(ensembles.bucket.root, jpeg)
    assert np.abs(np.array(output["data"]) - expected_array.ravel()).max() < TOLERANCE * expected_array.max()


def test_two_sentences_in_binary_as_the_source_sends_them_become_the_embeddings_of_minilm(
    ensembles: DeployedExample,
) -> None:
    tensor = http.InferInput("INPUT0", [2, 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[text] for text in SENTENCES], dtype=np.object_), binary_data=True)
    output = http.InferRequestedOutput("finaloutput", binary_data=True)
    body, header = http.InferenceServerClient.generate_request_body([tensor], outputs=[output])
    answer = client(ensembles.aws, "sagemaker-runtime").invoke_endpoint(
        EndpointName=ENSEMBLES.endpoint, TargetModel=TEXT, ContentType=f"{BINARY}{header}", Body=body
    )
    size = int(answer["ContentType"].removeprefix(BINARY))
    result = http.InferenceServerClient.parse_response_body(answer["Body"].read(), header_length=size)
    numbers = result.as_numpy("finaloutput")
    assert numbers.shape == (2, 384)
    assert np.abs(numbers - embed(SENTENCES)).max() < TOLERANCE


def test_a_text_of_more_than_128_tokens_is_cut_there(ensembles: DeployedExample) -> None:
    long = "the quick brown fox jumps over the lazy dog " * 30
    (answer,) = ensembles.endpoint.infer({"INPUT0": np.array([[long]])}, target=TEXT).values()
    assert np.abs(answer - embed([long])).max() < TOLERANCE


def test_the_models_run_in_the_environments_that_they_bring(ensembles: DeployedExample) -> None:
    log = ensembles.log.read_text()
    (locked_match,) = re.findall(r"^tokenizers==(\S+)", _environment(), re.MULTILINE)
    assert re.search(
        rf'"tokenizers {locked_match} of /tmp/python_env_\w+/\d/lib/python3\.\d+/site-packages/', log
    )
    assert re.search(r'"numpy \S+, in the environment /tmp/python_env_\w+/\d"', log)


def _environment() -> str:
    return (ROOT / "examples/gpu_ensembles/environment.txt").read_text()


def test_the_specs_samples_are_what_is_computed(ensembles: DeployedExample) -> None:
    images, text = open_project(ROOT, "dev", [ENSEMBLES.endpoint]).load(ENSEMBLES.endpoint).spec.samples
    content = bytes(cast("list[int]", images.inputs["INPUT"].data))
    report = probabilities(ensembles.bucket.root, content)[0, :4].tolist()
    assert images.outputs["OUTPUT"].first == pytest.approx(report, abs=5e-6)
    assert text.inputs["INPUT0"].data == SENTENCES
    assert text.outputs["finaloutput"].first == pytest.approx(embed(SENTENCES)[0, :4].tolist(), abs=5e-5)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (f"{TEXT}: bert-trt", "a stand-in for TensorRT runs the ONNX model of its plan, on the CPU"),
        (f"{IMAGES}: dali", "a stand-in for DALI runs its pipeline with numpy and Pillow, on the CPU"),
        (
            f"{IMAGES}: inception_onnx",
            "a stand-in for ONNX Runtime's backend runs the model with onnxruntime, on the CPU",
        ),
    ],
)
def test_status_tells_what_stands_in_for_a_backend(
    ensembles: DeployedExample, model: str, message: str
) -> None:
    assert f"{model}/config.pbtxt: {message}" in ensembles.report["differences"]


def test_all_environments_run_the_same_archives() -> None:
    locks = [
        load_lock(ROOT / "locks" / text / "gpu-ensembles.lock.yaml").archives
        for text in ("dev", "staging", "prod")
    ]
    assert locks[0] == locks[1] == locks[2]
