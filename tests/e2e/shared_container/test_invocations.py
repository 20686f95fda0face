"""Several models behind one endpoint: a request reaches the model that it names, and no other."""

from __future__ import annotations

import struct

import pytest

from shared_container.nginx_config import MAX_BODY_BYTES
from tests.support.shared_containers import (
    ATTRIBUTES,
    BINARY,
    JSON,
    TRITON_PORT,
    SharedContainer,
    binary,
    tensor,
)

pytestmark = pytest.mark.triton

BEYOND_DOUBLE = (1 << 53) + 1
MODELS = {"constructor": ["1"], "resnet": ["1", "2"], "text": ["1"]}


class TestHeader:
    @pytest.mark.parametrize(
        ("attributes", "version"),
        [
            (None, "2"),
            ("", "2"),
            ("trace=1", "2"),
            ("model=resnet", "2"),
            ("version=1", "1"),
            ("model=resnet;version=1", "1"),
            (" version=2 ; trace ;\tmodel=resnet ;", "2"),
        ],
    )
    def test_a_request_reaches_the_model_and_version_that_its_header_names(
        self, container: SharedContainer, attributes: str | None, version: str
    ) -> None:
        answer = container.invoke(tensor(5), attributes)
        assert (answer.status, answer.type) == (200, "application/json")
        assert answer.json()["model_name"] == "resnet_image"
        assert answer.json()["model_version"] == version
        assert container.recorded_lines()[-1] == f"resnet_image/{version} 5"

    @pytest.mark.parametrize(
        "attributes",
        [
            "model=resnet;model=resnet",
            "version=1;version=2",
            "model",
            "model=",
            "model =resnet",
            "model= resnet",
            "Model=resnet",
            "model=resnet,version=1",
            "model=a/../../secret",
            "model=resnet%2Finfer",
            "model=résnet",
            "model=" + "a" * 256,
            "version=01",
            "version=1.0",
            "version=-1",
        ],
    )
    def test_attributes_that_are_malformed_are_refused(
        self, container: SharedContainer, attributes: str
    ) -> None:
        before = container.recorded_lines()
        answer = container.invoke(tensor(5), attributes.encode("latin-1").decode("latin-1"))
        assert (answer.status, answer.type) == (400, "application/json")
        assert ATTRIBUTES in answer.json()["error"]
        assert container.recorded_lines() == before

    @pytest.mark.parametrize("name", ["secret", "resnet_image", "toString", "__proto__", "RESNET"])
    def test_an_unknown_model_is_answered_with_the_models_that_exist(
        self, container: SharedContainer, name: str
    ) -> None:
        answer = container.invoke(tensor(5), f"model={name}")
        assert answer.status == 404
        assert answer.json() == {"error": f"there is no model {name}", "models": MODELS}

    def test_an_unknown_version_is_answered_with_the_versions_that_exist(
        self, container: SharedContainer
    ) -> None:
        answer = container.invoke(tensor(5), "model=resnet;version=3")
        assert answer.status == 404
        assert answer.json() == {"error": "model resnet has no version 3", "models": MODELS}

    def test_a_header_of_tritons_is_not_passed_on(self, container: SharedContainer) -> None:
        headers = JSON | {"Inference-Header-Content-Length": "3"}
        assert container.invoke(tensor(5), headers=headers).status == 200


class TestBinary:
    def test_a_binary_request_has_a_binary_answer_of_the_same_content_type(
        self, container: SharedContainer
    ) -> None:
        body, headers = binary(BEYOND_DOUBLE, -1 << 63)
        answer = container.invoke(body, "model=resnet;version=1", headers)
        assert answer.status == 200
        kind, _, size = answer.type.partition(";json-header-size=")
        assert kind == BINARY
        assert struct.unpack("<2q", answer.body[int(size) :]) == (BEYOND_DOUBLE, -1 << 63)

    @pytest.mark.parametrize(
        "end", ["", ";json-header-size=", ";json-header-size=-1", ";json-header-size=1x"]
    )
    def test_a_malformed_size_is_refused(self, container: SharedContainer, end: str) -> None:
        body, _ = binary(1)
        answer = container.invoke(body, headers={"Content-Type": BINARY + end})
        assert answer.status == 400
        assert "json-header-size=NUMBER" in answer.json()["error"]

    def test_a_size_beyond_the_body_is_refused_by_triton(self, container: SharedContainer) -> None:
        body, _ = binary(1)
        answer = container.invoke(body, headers={"Content-Type": f"{BINARY};json-header-size=99999"})
        assert answer.status == 400


class TestErrors:
    @pytest.mark.parametrize("status", [400, 404])
    def test_an_error_of_the_model_is_passed_on(self, container: SharedContainer, status: int) -> None:
        answer = container.invoke(tensor(-status))
        assert (answer.status, answer.type) == (status, "application/json")
        assert answer.json() == {"error": "of its own"}

    @pytest.mark.parametrize(
        "attributes", ["model=constructor", "model=constructor;version=1", "model=constructor;trace"]
    )
    def test_a_model_that_is_not_loaded_is_named(self, container: SharedContainer, attributes: str) -> None:
        change = "/v2/repository/models/other/"
        assert container.call("POST", f"{change}unload", port=TRITON_PORT).status == 200

        def is_unloaded() -> bool:
            return container.call("GET", "/v2/models/other/ready", port=TRITON_PORT).status != 200

        container.wait(is_unloaded, "unloaded")
        answer = container.invoke(tensor(5), attributes)
        assert answer.status == 503
        assert answer.json()["error"].startswith("model constructor ")
        assert answer.json()["error"].endswith("is not ready")
        assert container.call("GET", "/ping").status == 200
        assert container.call("POST", f"{change}load", port=TRITON_PORT).status == 200
        assert container.invoke(tensor(5), attributes).status == 200

    @pytest.mark.parametrize(
        ("method", "path", "status"),
        [
            ("GET", "/invocations", 405),
            ("DELETE", "/invocations", 405),
            ("POST", "/ping", 405),
            ("POST", "/metrics", 405),
            ("GET", "/", 404),
            ("GET", "/-triton", 404),
            ("POST", "/v2/models/secret/infer", 404),
            ("GET", "/invocations/", 404),
        ],
    )
    def test_other_methods_and_paths_are_refused_in_json(
        self, container: SharedContainer, method: str, path: str, status: int
    ) -> None:
        answer = container.call(method, path, tensor(5), JSON)
        assert (answer.status, answer.type) == (status, "application/json")
        assert answer.json()["error"]

    @pytest.mark.parametrize("encoding", ["gzip", "deflate", "gzip, identity"])
    def test_an_encoded_body_is_refused(self, container: SharedContainer, encoding: str) -> None:
        answer = container.invoke(b"\x1f\x8b", headers=JSON | {"Content-Encoding": encoding})
        assert answer.status == 415

    def test_a_body_of_the_limit_is_served_and_a_longer_one_refused(self, container: SharedContainer) -> None:
        body = tensor(5)
        assert container.invoke(body + " " * (MAX_BODY_BYTES - len(body))).status == 200
        answer = container.invoke(body + " " * (MAX_BODY_BYTES - len(body) + 1))
        assert (answer.status, answer.type) == (413, "application/json")
        assert str(MAX_BODY_BYTES) in answer.json()["error"]

    @pytest.mark.parametrize(("excess", "status"), [(0, 200), (1, 413)])
    def test_the_limit_holds_for_a_body_of_unknown_length(
        self, container: SharedContainer, excess: int, status: int
    ) -> None:
        body = (tensor(5) + " " * (MAX_BODY_BYTES - len(tensor(5)) + excess)).encode()
        connection = container.connection()
        parts = (body[start : start + (1 << 20)] for start in range(0, len(body), 1 << 20))
        connection.request("POST", "/invocations", parts, JSON, encode_chunked=True)
        assert connection.getresponse().status == status
        connection.close()

    def test_a_long_answer_arrives_whole(self, container: SharedContainer) -> None:
        values = [BEYOND_DOUBLE] * 280_000
        answer = container.invoke(tensor(*values))
        assert answer.status == 200
        assert answer.json()["outputs"][0]["data"] == values
