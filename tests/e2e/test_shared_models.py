"""The example `shared-models` as its container serves it: a real nginx in front of a real Triton with all its models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import yaml
from PIL import Image

from endpoint_check.answer import outputs_of
from endpoint_check.compare import difference
from endpoint_check.sample import Sample as CheckedSample
from fleet_client.codec import decode, encode
from tests.support.fleet_folder import ROOT, FleetFolder
from tests.support.shared_models import EXAMPLE, build_plans, in_base64, make_example, two_squares
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.triton.shared_container import missing_program
from triton_fleet.local.triton.staging import stage
from triton_fleet.project.project import open_project
from triton_fleet.store.lock import write_locks

pytestmark = [pytest.mark.triton, pytest.mark.nightly]

SPEC = ROOT / "model_specs" / "shared-models.yaml"
SAMPLES: Any = yaml.safe_load(SPEC.read_text())["samples"]
TENSORS = "  resnet-tensors: resnet\n  yolov5-tensors: yolov5s\n"
"""Routes of models that the shipped spec hides, for callers who make the tensors themselves."""
HTTP_PORT = 23001
"""Triton's own, beside that of its metrics."""
ort: Any = onnxruntime
BYTES = {"shape": [1], "datatype": "BYTES"}
MASKED_SENTENCE = "The goal of life is [MASK]."


@dataclass(frozen=True)
class SharedModels:
    """The container, by its router and by Triton's own API behind it; where the example was made."""

    server: TritonServer
    example: Path

    def invoke(
        self, body: bytes, content_type: str = "application/json", attributes: str = ""
    ) -> tuple[int, Any]:
        """Status and JSON of an invocation, as SageMaker sends it."""
        headers = {"Content-Type": content_type, "X-Amzn-SageMaker-Custom-Attributes": attributes}
        answer = self.server.pool.request("POST", "/invocations", body=body, headers=headers)
        return answer.status, json.loads(answer.data)

    def server_and_model(self, model: str, **payload: str) -> tuple[int, Any]:
        """An invocation by a client of the source."""
        return self.invoke(json.dumps({"modelname": model, "payload": payload}).encode())

    def ask(self, model: str, inputs: Mapping[str, Any], version: int | None = None) -> tuple[int, Any]:
        """Status and answer: the outputs by name, or the message."""
        place = f"{model}/versions/{version}" if version else model
        tensors = [{"name": name, **tensor} for name, tensor in inputs.items()]
        body = json.dumps({"inputs": tensors}).encode()
        connection = HTTPConnection("localhost")
        connection.sock = self.server.connect(HTTP_PORT)
        connection.sock.settimeout(60.0)
        connection.request("POST", f"/v2/models/{place}/infer", body)
        answer = connection.getresponse()
        document = json.loads(answer.read())
        connection.close()
        if answer.status != 200:
            return answer.status, document["error"]
        return 200, {output["name"]: output for output in document["outputs"]}

    def result(self, model: str, name: str, text: str | bytes, version: int | None = None) -> Any:
        """A Python model's answer to its only input."""
        data = [text if isinstance(text, str) else text.decode()]
        status, outputs = self.ask(model, {name: {**BYTES, "data": data}}, version)
        return json.loads(outputs["result"]["data"][0]) if status == 200 else outputs

    def session(self, place: str) -> Any:
        return ort.InferenceSession(self.example / place, providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def triton(runtime: TritonRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedModels]:
    if text := missing_program():
        pytest.skip(f"this machine has no {text}")
    folder = tmp_path_factory.mktemp("shared")
    example = make_example(folder / "examples" / "shared_models")
    fleet = FleetFolder(folder)
    fleet.write(
        "model_specs/shared-models.yaml", SPEC.read_text().replace("routes: ", f"routes:\n{TENSORS}", 1)
    )
    fleet.environment(name="local")
    write_locks(open_project(folder, "local"))
    stage(example / "models", folder / "staged")
    build_plans(example, folder / "staged")
    variables = fleet.resolve("local").variables
    image = runtime.for_release("25.04", {"pillow": "13.0.0"})  # as its build argument says
    server = TritonServer(image, folder / "staged", variables, log=folder / "container.log")
    server.start()
    server.wait_ready(120.0)
    yield SharedModels(server, example)
    server.stop()


def test_clients_of_the_source_are_answered_as_they_expect_it(triton: SharedModels) -> None:
    img = in_base64(two_squares(), "JPEG").decode()
    status, best = triton.server_and_model("resnet", img=img)
    assert (status, best["modelname"], len(best["result"])) == (200, "resnet", 3)
    _, objects = triton.server_and_model("yolov5", img=img)
    assert sorted(item[0] for item in objects["result"]) == [0, 2]
    _, words = triton.server_and_model("bert_base", text=MASKED_SENTENCE)
    assert [set(item) for item in words["result"]] == [{"token", "score"}] * 5


def test_a_model_that_no_route_leads_to_cannot_be_called(triton: SharedModels) -> None:
    status, text = triton.invoke(b"{}", attributes="model=yolov5s")
    first_texts, versions = ["1"], ["1", "2"]
    tensors = {"resnet-tensors": first_texts, "yolov5-tensors": first_texts}
    assert (status, text["models"]) == (
        404,
        {"resnet": first_texts, "yolov5": first_texts, "bert_base": versions, **tensors},
    )


@pytest.mark.parametrize(
    ("route", "name", "shape", "expected_numbers"),
    [
        ("resnet-tensors", "input", (2, 3, 224, 224), (2, 1000)),
        ("yolov5-tensors", "images", (1, 3, 640, 640), (1, 25_200, 85)),
    ],
)
def test_tensors_of_megabytes_pass_in_binary_form_both_ways(
    triton: SharedModels, route: str, name: str, shape: tuple[int, ...], expected_numbers: tuple[int, ...]
) -> None:
    payload = encode({name: np.full(shape, 0.5, np.float32)})
    headers = {"Content-Type": payload.content_type, "X-Amzn-SageMaker-Custom-Attributes": f"model={route}"}
    answer = triton.server.pool.request("POST", "/invocations", body=payload.body, headers=headers)
    assert answer.status == 200
    assert decode(answer.data, answer.headers["Content-Type"])["output"].shape == expected_numbers


def test_a_version_is_called_by_the_header_and_by_the_body(triton: SharedModels) -> None:
    tensor = {"name": "text", "shape": [1], "datatype": "BYTES", "data": [MASKED_SENTENCE]}
    body = json.dumps({"inputs": [tensor]}).encode()
    first, second = (
        triton.invoke(body, attributes=f"model=bert_base;version={number}")[1]["outputs"][0]["data"]
        for number in (1, 2)
    )
    assert first != second
    payload = {"modelname": "bert_base", "version": 1, "payload": {"text": MASKED_SENTENCE}}
    assert triton.invoke(json.dumps(payload).encode())[1]["result"] == json.loads(first[0])


def test_resnet_image_answers_the_three_best_classes_of_what_the_graph_computes(triton: SharedModels) -> None:
    picture = two_squares()
    pixels = np.asarray(picture.resize((224, 224)), np.float32).transpose(2, 0, 1)[None] / np.float32(255)
    (scores,) = triton.session("resnet.onnx").run(["output"], {"input": pixels})[0]
    best = np.argsort(-scores)[:3]
    answer = [text.split(":") for text in triton.result("resnet_image", "img", in_base64(picture))]
    assert [(int(index), label) for _, index, label in answer] == [(n, f"class {n}") for n in best]
    assert [float(score) for score, *_ in answer] == pytest.approx(scores[best].tolist(), abs=1e-4)


@pytest.mark.parametrize("form", ["PNG", "JPEG"])
def test_yolov5_image_finds_the_squares_that_are_drawn(triton: SharedModels, form: str) -> None:
    objects = triton.result("yolov5_image", "img", in_base64(two_squares(), form))
    # 320 to 608 and 800 to 960 of the picture, halved; the letterbox has 80 rows of grey above it.
    expected_numbers = [[0, 160, 304, 240, 384, 1280, 960], [2, 400, 480, 320, 400, 1280, 960]]
    assert sorted([number, *rest] for number, _, *rest in objects) == expected_numbers
    assert all(score > 0.97 for _, score, *_ in objects)


def test_one_square_is_one_object_though_neighbouring_cells_see_it(triton: SharedModels) -> None:
    pixels = np.full((1, 3, 640, 640), 0.5, np.float32)
    pixels[0, :, 200:344, 200:344] = np.array([1, 0, 0])[:, None, None]
    (rows,) = triton.session("yolov5s.onnx").run(["output"], {"images": pixels})[0]
    row = rows[rows[:, 4] > 0.5]
    assert len(row) > 1
    picture = Image.fromarray((pixels[0] * 255).round().astype(np.uint8).transpose(1, 2, 0))
    assert len(triton.result("yolov5_image", "img", in_base64(picture))) == 1


@pytest.mark.parametrize("version", [1, 2])
def test_bert_base_text_answers_by_the_version_of_bert_base_that_it_is(
    triton: SharedModels, version: int
) -> None:
    ids = [101, 1996, 3125, 1997, 2166, 2003, 103, 1012, 102]
    feed = {"input_ids": [ids], "token_type_ids": [[0] * 9], "attention_mask": [[1] * 9]}
    session = triton.session(f"models/bert_base/{version}/model.bin")
    logits = session.run(["output"], {name: np.array(array, np.int64) for name, array in feed.items()})[0][
        0, 6
    ]
    shares = np.exp(logits) / np.exp(logits).sum()
    best = np.argsort(-shares)[:5]
    words = (triton.example / "models/bert_base_text/vocab.txt").read_text().split("\n")
    answer = triton.result("bert_base_text", "text", MASKED_SENTENCE, version)
    assert [entry["token"] for entry in answer] == [f"The goal of life is {words[n]}." for n in best]
    assert [entry["score"] for entry in answer] == pytest.approx(shares[best].tolist(), rel=1e-4)


def test_the_versions_differ_and_the_newest_answers_who_names_none(triton: SharedModels) -> None:
    first, second, newest = (
        triton.result("bert_base_text", "text", MASKED_SENTENCE, item) for item in (1, 2, None)
    )
    assert first != second == newest
    status, text = triton.ask("bert_base", {}, version=3)
    assert (status, "version 3 is not found" in text) == (404, True)


def test_the_tensors_of_each_model_are_those_of_the_source(triton: SharedModels) -> None:
    pixels = {"shape": [128, 3, 224, 224], "datatype": "FP32", "data": [0.0] * (128 * 3 * 224 * 224)}
    status, outputs = triton.ask("resnet", {"input": pixels})
    assert (status, outputs["output"]["shape"], outputs["output"]["datatype"]) == (200, [128, 1000], "FP32")
    pixels = {"shape": [1, 3, 640, 640], "datatype": "FP32", "data": [0.5] * (3 * 640 * 640)}
    _, outputs = triton.ask("yolov5s", {"images": pixels})
    assert outputs["output"]["shape"] == [1, 25_200, 85]
    ids = {"shape": [2, 7], "datatype": "INT64", "data": [1] * 14}
    _, outputs = triton.ask(
        "bert_base", dict.fromkeys(["input_ids", "token_type_ids", "attention_mask"], ids)
    )
    assert outputs["output"]["shape"] == [2, 7, 30_522]


@pytest.mark.parametrize(
    ("model", "name", "text", "message"),
    [
        ("resnet_image", "img", "%%%", "img is not base64"),
        ("yolov5_image", "img", "bm8gcGljdHVyZQ==", "img is not a picture"),
        ("bert_base_text", "text", "no mask", "text has 0 times [MASK]"),
    ],
)
def test_what_a_caller_did_wrong_has_status_400_and_is_named(
    triton: SharedModels, model: str, name: str, text: str, message: str
) -> None:
    status, report = triton.ask(model, {name: {**BYTES, "data": [text]}})
    assert (status, report.startswith(message)) == (400, True)


@pytest.mark.parametrize("written_values", SAMPLES, ids=lambda written_value: written_value["name"])
def test_the_samples_are_what_the_routes_answer(triton: SharedModels, written_values: dict[str, Any]) -> None:
    (sample,) = CheckedSample.all_of(json.dumps([written_values]))
    body, content_type = sample.request()
    headers = {"Content-Type": content_type, "X-Amzn-SageMaker-Custom-Attributes": sample.attributes}
    answer = triton.server.pool.request("POST", "/invocations", body=body, headers=headers)
    assert answer.status == sample.status
    if answer.status == 200:
        assert difference(sample, outputs_of(answer.data, answer.headers["Content-Type"])) is None


def test_pictures_are_read_by_the_same_code_in_both_models(triton: SharedModels) -> None:
    source = (EXAMPLE / "pictures.py").read_bytes()
    for model in ("resnet_image", "yolov5_image"):
        assert (triton.example / f"models/{model}/1/pictures.py").read_bytes() == source
