"""Which calls nginx passes on itself, and how: a real nginx between a client and a stand-in for Triton."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from shared_container.nginx_config import ERRORS, MAX_ANSWER_BYTES, MAX_BODY_BYTES
from shared_container.routes import Route, Routes
from tests.support.router_without_script import BODY, JSON, SCRIPT, SECONDS, Router, router_without_script
from tests.support.shared_containers import ATTRIBUTES, BINARY, joins_repeated_headers

ROUTES = {
    "resnet": Route("resnet_image", ("1", "12")),
    "a.b": Route("dotted", ("1",)),
    "Twin": Route("upper", ("1",)),
    "twin": Route("lower", ("1",)),
    "default": Route("word_of_nginx", ("1",)),
    "n" * 255: Route("m" * 255, ("9" * 19,)),
}
TENSORS = f"{BINARY};json-header-size=7"
LONG = b"x" * (MAX_ANSWER_BYTES + (8 << 20))


@pytest.fixture(scope="module")
def running_router() -> Iterator[Router]:
    with router_without_script(Routes(ROUTES, "resnet")) as router:
        yield router


@pytest.fixture
def router(running_router: Router) -> Iterator[Router]:
    running_router.triton.reset()
    yield running_router
    running_router.triton.may_go_on.set()


class TestWhoServes:
    @pytest.mark.parametrize(
        ("attributes", "content_type", "path"),
        [
            ("model=resnet", JSON, "resnet_image/infer"),
            ("model=resnet;version=12", JSON, "resnet_image/versions/12/infer"),
            ("model=a.b", JSON, "dotted/infer"),
            ("model=default", JSON, "word_of_nginx/infer"),
            ("version=1", JSON, "resnet_image/versions/1/infer"),
            ("model=" + "n" * 255 + ";version=" + "9" * 19, JSON, f"{'m' * 255}/versions/{'9' * 19}/infer"),
            ("model=resnet", TENSORS, "resnet_image/infer"),
            (None, TENSORS, "resnet_image/infer"),
            ("", TENSORS, "resnet_image/infer"),
        ],
    )
    def test_a_plain_call_goes_to_the_model_that_its_header_names(
        self, router: Router, attributes: str | None, content_type: str, path: str
    ) -> None:
        answer = router.call(attributes, content_type)
        assert (answer.status, answer.json()["path"]) == (200, f"/v2/models/{path}")

    @pytest.mark.parametrize(
        "attributes",
        [
            None,
            "",
            "trace=1",
            "model=resnet;trace=1",
            "version=1;model=resnet",
            "model=resnet;",
            "model=resnet ;version=1",
            "model=resnet\t",
            "model=resnet resnet ",
            "model= resnet",
            "model=secret",
            "model=resnet_image",
            "model=aXb",
            "model=resnet;version=2",
            "model=resnet;version=01",
            "model=a.b;version=12",
            "version=2",
            "model=",
            "default",
            "hostnames",
        ],
    )
    def test_another_header_goes_to_the_script(self, router: Router, attributes: str | None) -> None:
        assert router.call(attributes).status == SCRIPT
        assert not router.triton.paths

    @pytest.mark.parametrize("attributes", ["Model=resnet", "model=RESNET", "model=resneT;version=1"])
    def test_another_case_goes_to_the_script(self, router: Router, attributes: str) -> None:
        assert router.call(attributes).status == SCRIPT

    @pytest.mark.parametrize("name", ["Twin", "twin", "TWIN"])
    def test_names_that_differ_by_case_alone_go_to_the_script(self, router: Router, name: str) -> None:
        assert router.call(f"model={name}").status == SCRIPT

    @pytest.mark.parametrize(
        "content_type",
        [
            "",
            "text/plain",
            "application/json; charset=utf-8",
            "application/JSON",
            "application/jsonx",
            BINARY,
            f"{BINARY};json-header-size=",
            f"{BINARY};json-header-size=1x",
            f"{BINARY}; json-header-size=1",
            f"{BINARY};json-header-size=1234567890",
            TENSORS.upper(),
        ],
    )
    def test_another_content_type_goes_to_the_script(self, router: Router, content_type: str) -> None:
        assert router.call("model=resnet", content_type).status == SCRIPT

    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
    def test_another_method_goes_to_the_script(self, router: Router, method: str) -> None:
        assert router.call("model=resnet", method=method).status == SCRIPT

    @pytest.mark.parametrize(
        "headers",
        [
            {"Content_Encoding": "gzip"},
            {"Content_Encoding": "identity"},
            {"Content_Length": "", "Transfer_Encoding": "chunked"},
        ],
    )
    def test_a_body_that_is_encoded_or_of_unknown_length_goes_to_the_script(
        self, router: Router, headers: dict[str, str]
    ) -> None:
        body = b"0\r\n\r\n" if "Transfer_Encoding" in headers else BODY
        assert router.call("model=resnet", body=body, **headers).status == SCRIPT

    @pytest.mark.parametrize("second", ["model=resnet", "model=a.b", "trace=1", ""])
    def test_a_repeated_header_goes_to_the_script_where_nginx_sees_that_it_is_repeated(
        self, router: Router, second: str
    ) -> None:
        """Older ones serve what the first names."""
        answer = router.call(["model=resnet", second])
        if joins_repeated_headers():
            assert answer.status == SCRIPT
        else:
            assert (answer.status, answer.json()["path"]) == (200, "/v2/models/resnet_image/infer")


class TestRequest:
    @pytest.mark.parametrize(("content_type", "length"), [(JSON, None), (TENSORS, "7")])
    def test_triton_gets_the_body_and_nothing_of_the_head_but_the_length(
        self, router: Router, content_type: str, length: str | None
    ) -> None:
        answer = router.call(
            "model=resnet",
            content_type,
            Inference_Header_Content_Length="3",
            Accept_Encoding="gzip",
            X_Other="a",
        )
        request = answer.json()
        expected_value = {"host": "triton", "content-length": str(len(BODY))}
        if length is not None:
            expected_value["inference-header-content-length"] = length
        assert request["headers"] == expected_value
        assert request["body"] == BODY.decode()

    def test_a_body_beyond_the_limit_does_not_reach_triton(self, router: Router) -> None:
        with closing(http.client.HTTPConnection("127.0.0.1", router.port, timeout=SECONDS)) as client:
            headers = {ATTRIBUTES: "model=resnet", "Content-Type": JSON}
            client.request(
                "POST", "/invocations", headers=headers | {"Content-Length": str(MAX_BODY_BYTES + 1)}
            )
            answer = client.getresponse()
            assert answer.status == 413
            assert json.loads(answer.read()) == {"error": ERRORS[413]}
        assert not router.triton.paths


class TestAnswer:
    def test_a_binary_answer_has_the_content_type_of_one(self, router: Router) -> None:
        headers = {"Content-Type": "application/octet-stream", "Inference-Header-Content-Length": "42"}
        router.triton.answer = (200, headers, b"\x00")
        answer = router.call("model=resnet", TENSORS)
        kept_values = {
            key: value for key, value in answer.headers.items() if key not in ("Server", "Date", "Connection")
        }
        assert kept_values == {"Content-Type": f"{BINARY};json-header-size=42", "Content-Length": "1"}
        assert answer.body == b"\x00"

    @pytest.mark.parametrize("status", [400, 409, 429, 500, 501])
    @pytest.mark.parametrize(
        ("given_text", "expected_text"),
        [(JSON, JSON), ("text/plain", JSON), (None, JSON), ("text/html", "text/plain")],
    )
    def test_an_error_is_passed_on_as_it_is(
        self, router: Router, status: int, given_text: str | None, expected_text: str
    ) -> None:
        router.triton.answer = (
            status,
            {} if given_text is None else {"Content-Type": given_text},
            b'{"error":"own"}',
        )
        answer = router.call("model=resnet")
        assert (answer.status, answer.headers["Content-Type"]) == (status, expected_text)
        assert answer.body == b'{"error":"own"}'
        assert len(router.triton.paths) == 1

    @pytest.mark.parametrize("status", [404, 503])
    def test_what_may_be_a_model_that_is_not_loaded_goes_to_the_script(
        self, router: Router, status: int
    ) -> None:
        router.triton.answer = (status, {}, b'{"error":"own"}')
        assert router.call("model=resnet").status == SCRIPT

    def test_a_slow_reader_does_not_hold_triton(self, router: Router) -> None:
        """Nor is an answer cut that is longer than the script's memory for one."""
        router.triton.answer = (200, {"Content-Type": JSON}, LONG)
        with closing(http.client.HTTPConnection("127.0.0.1", router.port, timeout=SECONDS)) as client:
            client.request("POST", "/invocations", BODY, {ATTRIBUTES: "model=resnet", "Content-Type": JSON})
            assert router.triton.has_sent.wait(SECONDS)
            assert client.getresponse().read() == LONG


class TestOwnErrors:
    def test_an_answer_that_comes_too_late_is_504(self, router: Router) -> None:
        router.triton.answer = (504, {}, None)
        answer = router.call("model=resnet")
        assert (answer.status, answer.headers["Content-Type"]) == (504, JSON)
        assert answer.json() == {"error": ERRORS[504]}
        assert len(router.triton.paths) == 1

    @pytest.mark.parametrize("attributes", ["model=resnet", "trace=1"])
    def test_a_connection_whose_body_does_not_arrive_is_reset(self, router: Router, attributes: str) -> None:
        """As nginx does it for calls of the script; the log has 408."""
        with closing(socket.create_connection(("127.0.0.1", router.port), timeout=SECONDS)) as client:
            head = f"POST /invocations HTTP/1.1\r\nHost: a\r\n{ATTRIBUTES}: {attributes}\r\nContent-Type: {JSON}\r\n"
            client.sendall(f"{head}Content-Length: 9\r\n\r\n".encode())
            with pytest.raises(ConnectionResetError):
                client.recv(1 << 16)
        assert not router.triton.paths
        line = router.lines()[-1]
        assert (line["message"], line.get("route")) == (
            "POST /invocations 408",
            "resnet" if attributes == "model=resnet" else None,
        )

    def test_an_answer_that_does_not_come_is_502(self, router: Router) -> None:
        router.triton.answer = (502, {}, None)
        answer = router.call("model=resnet")
        assert (answer.status, answer.headers["Content-Type"]) == (502, JSON)
        assert answer.json() == {"error": ERRORS[502]}


class TestLog:
    @pytest.mark.parametrize(
        ("attributes", "content_type", "named_values"),
        [
            ("model=resnet", JSON, {"route": "resnet"}),
            ("model=resnet;version=12", JSON, {"route": "resnet", "version": "12"}),
            ("version=1", JSON, {"route": "resnet", "version": "1"}),
            (None, TENSORS, {"route": "resnet"}),
            ("model=secret", JSON, {}),
        ],
    )
    @pytest.mark.parametrize("status", [200, 400, 502])
    def test_a_line_has_the_route_and_version_of_the_call(
        self,
        router: Router,
        attributes: str | None,
        content_type: str,
        named_values: dict[str, str],
        status: int,
    ) -> None:
        router.triton.answer = (status, {}, b"{}")
        before = len(router.lines())
        status = status if named_values else SCRIPT
        assert router.call(attributes, content_type).status == status
        for _ in range(SECONDS * 50):
            if len(router.lines()) > before:
                break
            time.sleep(0.02)
        line = router.lines()[-1]
        assert line["message"] == f"POST /invocations {status}"
        assert {key: line[key] for key in ("route", "version") if key in line} == named_values
