"""The container ends when a process of it dies, stops without losing a request, and leaves nothing behind."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from contextlib import closing, suppress
from http.client import HTTPException

import psutil
import pytest

from tests.e2e.shared_container.conftest import Make
from tests.support.shared_containers import (
    ATTRIBUTES,
    JSON,
    METRICS_PORT,
    PORT,
    TRITON_PORT,
    SharedContainer,
    tensor,
)

pytestmark = pytest.mark.triton

SCRIPTED_BODY = JSON
PLAIN = JSON | {ATTRIBUTES: "model=one"}


def process_of(container: SharedContainer, name: str) -> psutil.Process:
    return next(process for process in container.processes() if process.name() == name)


def nginx_of(container: SharedContainer) -> list[psutil.Process]:
    """Its master, once it runs."""
    children = container.processes()[0].children()
    return [child for child in children if child.name() == "nginx"]


def exit_status(container: SharedContainer) -> int:
    assert container.process is not None
    return container.process.wait(60)


def no_process_runs(processes: list[psutil.Process]) -> bool:
    return not psutil.wait_procs(processes, timeout=60)[1]


class Load:
    """Clients that ask until they get no answer."""

    def __init__(self, container: SharedContainer, headers: dict[str, str]) -> None:
        self._headers = headers
        self.statuses: Counter[int] = Counter()
        self.served = threading.Event()
        self._container = container
        self._threads = [threading.Thread(target=self._ask) for _ in range(8)]
        for thread in self._threads:
            thread.start()

    def _ask(self) -> None:
        with closing(self._container.connection()) as connection, suppress(OSError, HTTPException):
            while True:
                connection.request("POST", "/invocations", tensor(1), self._headers)
                with connection.getresponse() as answer:
                    answer.read()
                    self.statuses[answer.status] += 1
                    self.served.set()
                    if answer.getheader("Connection") == "close":
                        return

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


class TestDeath:
    @pytest.mark.parametrize("headers", [SCRIPTED_BODY, PLAIN], ids=["by script", "plain"])
    def test_tritons_death_under_load_ends_the_container_and_is_said(
        self, make: Make, headers: dict[str, str]
    ) -> None:
        container = make()
        container.wait_ready()
        processes = container.processes()
        load = Load(container, headers)
        assert load.served.wait(60)
        process_of(container, "tritonserver").kill()
        assert exit_status(container) == 1
        load.join()
        assert set(load.statuses) <= {200, 502}
        assert container.messages()[-1].startswith("Triton was killed by SIGKILL")
        assert no_process_runs(processes)

    def test_nginxs_death_ends_the_container_and_is_said(self, make: Make) -> None:
        container = make()
        container.wait_ready()
        processes = container.processes()
        nginx_of(container)[0].kill()
        assert exit_status(container) == 1
        assert container.messages()[-1].startswith("nginx was killed by SIGKILL")
        assert no_process_runs(processes)

    def test_a_model_that_does_not_load_ends_the_container_with_tritons_reason(self, make: Make) -> None:
        container = make()
        assert container.process is not None
        container.close()
        model = container.folder / "repository/model/1/model.py"
        model.parent.mkdir(parents=True, exist_ok=True)
        model.write_text("import no_such_package\n")
        model.parent.with_name("config.pbtxt").write_text('backend: "python"\n')
        container.__post_init__()
        container.start()
        assert exit_status(container) == 1
        message = container.messages()[-1]
        assert message.startswith("Triton ended with exit code 1 before all models were ready")

    def test_a_version_that_does_not_exist_is_never_ready(self, make: Make) -> None:
        container = make(versions="13")

        def is_loaded() -> bool:
            try:
                path = "/v2/models/model/versions/1/ready"
                return container.call("GET", path, port=TRITON_PORT).status == 200
            except OSError:
                return False

        container.wait(is_loaded, "loaded")
        answer = container.call("GET", "/ping")
        assert (answer.status, answer.json()) == (503, {"error": "Triton is not ready"})
        refused_result = container.invoke(tensor(5), "version=3")
        assert (refused_result.status, refused_result.json()) == (
            503,
            {"error": "model one version 3 is not ready"},
        )

    def test_nothing_is_left_when_the_program_itself_is_killed(self, make: Make) -> None:
        container = make()
        container.wait_ready()
        processes = container.processes()
        assert container.process is not None
        container.process.kill()
        container.process.wait()
        assert no_process_runs(processes)


class TestTime:
    def test_an_inference_that_takes_too_long_is_answered_and_not_sent_again(self, make: Make) -> None:
        container = make(arguments=("--seconds=1",))
        container.wait_ready()
        for attributes in (None, "model=one"):
            answer = container.invoke(tensor(-1), attributes)
            assert (answer.status, answer.type) == (504, "application/json")
            assert answer.json() == {"error": "Triton did not answer in time"}
        (container.folder / "go").touch()
        assert container.invoke(tensor(5)).status == 200
        assert container.recorded_lines() == ["model/1 -1", "model/1 -1", "model/1 5"]


class TestStop:
    def test_requests_in_flight_are_answered_and_new_connections_refused(self, make: Make) -> None:
        container = make()
        container.wait_ready()
        processes = container.processes()
        in_flight = [container.connection() for _ in range(3)]
        for connection, headers in zip(in_flight, (SCRIPTED_BODY, PLAIN, PLAIN), strict=True):
            connection.request("POST", "/invocations", tensor(-1), headers)
        idle = container.connection()
        idle.request("GET", "/ping")
        assert idle.getresponse().read() == b""
        container.wait(lambda: container.recorded_lines(), "in flight")
        assert container.process is not None
        container.process.send_signal(signal.SIGTERM)

        def is_refused() -> bool:
            try:
                container.network.connect(PORT, 5).close()
            except OSError:
                return True
            return False

        container.wait(is_refused, "refused")
        assert idle.sock.recv(1) == b""
        assert container.process.poll() is None
        (container.folder / "go").touch()
        answers = [connection.getresponse() for connection in in_flight]
        assert [answer.status for answer in answers] == [200] * 3
        assert [answer.getheader("Connection") for answer in answers] == ["close"] * 3
        for connection in (*in_flight, idle):
            connection.close()
        assert exit_status(container) == 0
        assert container.messages()[-1] == "stopped"
        assert not any(
            line["level"] == "error" for line in container.lines() if line["source"] == "container"
        )
        assert no_process_runs(processes)

    def test_a_stop_before_the_models_are_ready_ends_with_0(self, make: Make) -> None:
        container = make(versions="13")
        container.wait(lambda: nginx_of(container), "running")
        assert container.stop() == 0


class TestMetrics:
    def test_what_happened_since_the_last_scrape_is_published_at_the_stop(self, make: Make) -> None:
        container = make(TRITON_FLEET_METRICS_NAMESPACE="fleet/one")
        container.wait_ready()
        for _ in range(3):
            assert container.invoke(tensor(5)).status == 200
        assert container.stop() == 0
        lines = [line for line in container.lines() if "_aws" in line]
        (line,) = [line for line in lines if "nv_inference_request_success" in line]
        (directive,) = line["_aws"]["CloudWatchMetrics"]
        assert (line["model"], line["version"], directive["Namespace"]) == ("model", "1", "fleet/one")
        assert line["nv_inference_request_success"] == 3
        assert directive["Dimensions"] == [["model", "version"]]

    def test_metrics_that_are_not_allowed_are_missed(self, make: Make) -> None:
        container = make(TRITON_FLEET_METRICS_NAMESPACE="fleet/one", TRITON_FLEET_OPTIONS="[]")
        container.wait_ready()
        assert container.call("GET", "/metrics").status == 404
        with pytest.raises(ConnectionRefusedError):
            container.network.connect(METRICS_PORT)
        assert any("metrics are not allowed" in message for message in container.messages())
