"""Many clients and slow ones, the metrics of Triton, and the log of all that happens."""

from __future__ import annotations

import socket
from contextlib import ExitStack, closing

import pytest

from shared_container.nginx_config import MAX_BODY_BYTES
from tests.support.shared_containers import ATTRIBUTES, JSON, METRICS_PORT, PORT, SharedContainer, tensor

pytestmark = pytest.mark.triton


class TestConnections:
    @pytest.mark.parametrize(("number", "attributes"), [(77, "trace"), (78, "model=resnet")])
    def test_a_slow_client_reaches_the_model_only_when_its_body_is_there(
        self, container: SharedContainer, number: int, attributes: str
    ) -> None:
        body = tensor(number).encode()
        headers = {"Host": "a", "Content-Length": str(len(body)), ATTRIBUTES: attributes, **JSON}
        lines = ["POST /invocations HTTP/1.1", *(f"{key}: {text}" for key, text in headers.items())]
        head = "".join(f"{line}\r\n" for line in [*lines, ""]).encode()
        slow = [container.network.connect(PORT, 60) for _ in range(100)]
        for connection in slow:
            connection.sendall(head + body[:5])
        assert container.invoke(tensor(5)).status == 200
        assert not any(line.endswith(f" {number}") for line in container.recorded_lines())
        for item in slow:
            item.sendall(body[5:])
        assert all(connection.recv(12) == b"HTTP/1.1 200" for connection in slow)
        for entry in slow:
            entry.close()

    def test_a_thousand_connections_are_kept_alive(self, container: SharedContainer) -> None:
        with ExitStack() as ends:
            connections = [ends.enter_context(closing(container.connection())) for _ in range(1000)]
            for _ in range(2):
                # A call waits for those before it: a thousand at once may take longer than its minute.
                for start in range(0, 1000, 50):
                    group = connections[start : start + 50]
                    for connection in group:
                        connection.request("POST", "/invocations", tensor(5), JSON)
                    for connection in group:
                        answer = connection.getresponse()
                        assert answer.status == 200
                        answer.read()
            assert all(isinstance(connection.sock, socket.socket) for connection in connections)


class TestMetrics:
    def test_tritons_metrics_are_passed_on(self, container: SharedContainer) -> None:
        answer = container.call("GET", "/metrics")
        assert answer.status == 200
        assert b'nv_inference_request_success{model="resnet_image",version="1"}' in answer.body

    def test_the_port_of_the_options_is_used(self, container: SharedContainer) -> None:
        assert container.call("GET", "/metrics", port=METRICS_PORT).status == 200


class TestLog:
    def test_each_line_has_one_form_and_none_is_a_metric(self, container: SharedContainer) -> None:
        container.invoke(tensor(5), 'model=a";"_aws":"')
        container.call("GET", "/%22,%22_aws%22:%22")
        lines = container.lines()
        assert all({"time", "source", "level", "message"} <= set(line) for line in lines)
        assert not any("_aws" in line for line in lines)
        assert any("_aws" in line["message"] for line in lines if line["source"] == "triton")
        assert {line["source"] for line in lines} >= {"container", "router", "triton"}

    @pytest.mark.parametrize("end", ["", ";trace"])
    @pytest.mark.parametrize("status", [200, 400, 404, 413])
    def test_a_request_is_logged_with_its_model(
        self, container: SharedContainer, end: str, status: int
    ) -> None:
        before = len(container.lines())
        body = " " * (MAX_BODY_BYTES + 1) if status == 413 else tensor(-status)
        assert container.invoke(body, f"model=resnet;version=1{end}").status == status

        def is_logged() -> bool:
            named_texts = ("resnet", "1") if status != 413 else (None, None)
            return any(
                (line.get("route"), line.get("version"), line.get("status")) == (*named_texts, status)
                and line["message"].startswith("POST /invocations " if status != 413 else "GET /-error/413 ")
                for line in container.lines()[before:]
            )

        container.wait(is_logged, "logged")
