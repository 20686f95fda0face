"""Clients of other containers name the model in the JSON of the body, and get answers in that form."""

from __future__ import annotations

import json

import pytest

from shared_container.nginx_config import MAX_BODY_BYTES
from tests.support.shared_containers import SharedContainer, tensor

pytestmark = pytest.mark.triton

BEYOND_DOUBLE = (1 << 53) + 1


class TestBodyForm:
    """Clients of other containers name the model in the JSON of the body."""

    def test_an_integer_beyond_2_to_the_53_arrives_as_it_is(self, container: SharedContainer) -> None:
        answer = container.invoke(f'{{"modelname": "resnet", "payload": {{"x": {BEYOND_DOUBLE}}}}}')
        assert answer.status == 200
        assert container.recorded_lines()[-1] == f"resnet_image/2 {BEYOND_DOUBLE}"
        assert answer.body == b'{"modelname":"resnet","result":{"y":[%d]}}' % BEYOND_DOUBLE

    @pytest.mark.parametrize("version", ["1", '"1"'])
    def test_the_version_is_a_number_or_a_text(self, container: SharedContainer, version: str) -> None:
        body = f'{{"version": {version}, "payload": {tensor(BEYOND_DOUBLE)}, "modelname": "resnet"}}'
        answer = container.invoke(body, headers={"Content-Type": "application/json; charset=utf-8"})
        assert answer.status == 200
        result = answer.json()["result"]
        assert (result["model_version"], result["outputs"][0]["data"]) == ("1", [BEYOND_DOUBLE])

    @pytest.mark.parametrize(
        ("text", "result"),
        [
            ('{"label": "cat", "id": 9007199254740993, "scores": [0.10]}',) * 2,
            ("[1,\n2]", "[1,\n2]"),
            ("a cat", '"a cat"'),
            ("", '""'),
            ('says "hi" \\ é 猫', '"says \\"hi\\" \\\\ é 猫"'),
        ],
    )
    def test_one_text_is_the_result_be_it_json_or_not(
        self, container: SharedContainer, text: str, result: str
    ) -> None:
        body = json.dumps({"modelname": "text", "payload": {"text": text}})
        answer = container.invoke(body)
        assert answer.status == 200
        assert json.loads(answer.body) == {"modelname": "text", "result": json.loads(result)}
        assert "9007199254740993" not in text or b"9007199254740993" in answer.body

    def test_an_answer_of_too_many_values_is_refused_and_passes_by_the_header(
        self, container: SharedContainer
    ) -> None:
        refused_result = container.invoke(json.dumps({"modelname": "text", "payload": {"text": "many"}}))
        assert (refused_result.status, "name it in the header" in refused_result.json()["error"]) == (
            400,
            True,
        )
        inputs = [{"name": "text", "shape": [1], "datatype": "BYTES", "data": ["many"]}]
        answer = container.invoke(json.dumps({"inputs": inputs}), "model=text")
        assert len(answer.json()["outputs"][0]["data"]) == 300_000

    def test_a_body_of_24_mb_is_read_and_its_answer_written(self, container: SharedContainer) -> None:
        values = [1 << 60] * 1_200_000
        body = f'{{"modelname": "resnet", "payload": {tensor(*values)}}}'
        assert 24_000_000 < len(body) < MAX_BODY_BYTES
        answer = container.invoke(body)
        assert answer.status == 200
        assert answer.json()["result"]["outputs"][0]["data"] == values

    @pytest.mark.parametrize(
        ("body", "status", "error"),
        [
            ('{"modelname": "nope", "payload": {"x": 1}}', 404, "there is no model nope"),
            ('{"modelname": "resnet", "version": 7, "payload": {"x": 1}}', 404, "has no version 7"),
            ('{"modelname": "resnet", "version": 1.5, "payload": {"x": 1}}', 400, "version: write a number"),
            ('{"modelname": "../secret", "payload": {"x": 1}}', 400, "modelname: write the name of a model"),
            ('{"modelname": 3, "payload": {"x": 1}}', 400, "modelname: write the name of a model"),
            ('{"modelname": "resnet"}', 400, "payload: write an object"),
            ('{"modelname": "resnet", "payload": [1]}', 400, "payload: write an object"),
            ('{"modelname": "resnet", "payload": {"x": [1]}}', 400, "neither a text nor a number"),
            ('{"modelname": "resnet", "payload": {"x": true}}', 400, "neither a text nor a number"),
            ('{"modelname": "resnet", "modelname": "text", "payload": {"x": 1}}', 400, "is repeated"),
            ('{"modelname": "resnet", "payload": {"x": 1}', 400, "is not JSON at character"),
            ('{"modelname": "resnet", "payload": {"x": 01}}', 400, "is not JSON at character"),
            ('{"modelname": "resnet", "payload": {"x": ' + "[" * 40 + "]" * 40 + "}}", 400, "too deep"),
            ('{"modelname": "resnet", "payload": {"x": [' + "[]," * 300_000 + "1]}}", 400, "too many values"),
            ('{"modelname": "resnet", "payload": {"x": 1.5}}', 400, "data-type is 'FP64'"),
        ],
        ids=range(15),
    )
    def test_what_is_wrong_is_said(
        self, container: SharedContainer, body: str, status: int, error: str
    ) -> None:
        answer = container.invoke(body)
        assert answer.status == status
        assert error in answer.json()["error"]

    def test_bytes_that_are_not_utf_8_are_refused(self, container: SharedContainer) -> None:
        answer = container.invoke(b'{"modelname": "text", "payload": {"text": "\xff"}}')
        assert (answer.status, answer.json()) == (400, {"error": "the body is not UTF-8"})

    def test_a_request_of_tritons_with_that_word_in_it_is_tritons(self, container: SharedContainer) -> None:
        request = json.loads(tensor(5)) | {"id": "modelname"}
        answer = container.invoke(json.dumps(request))
        assert (answer.status, answer.json()["id"]) == (200, "modelname")

    def test_a_header_that_names_the_model_wins(self, container: SharedContainer) -> None:
        request = json.loads(tensor(5)) | {"modelname": "text"}
        assert container.invoke(json.dumps(request), "model=resnet").json()["model_name"] == "resnet_image"
