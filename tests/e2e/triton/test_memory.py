"""A Triton or a model that takes more memory than it may have ends alone, and it is said why."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from werkzeug.test import Client

from fleet_emulator.hosting import EndpointId, HostingError
from tests.support.endpoint_ids import SignedFor
from tests.support.memory_group import end_first, memory_group, ooms, runtime_in
from tests.support.triton_models import QUIET, Starter, is_session_over, python_model, shared_memory
from tests.support.zoo import Zoo, times
from triton_fleet.local.containers import Container, SingleModel
from triton_fleet.local.gateway import Gateway
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.staging import stage
from triton_fleet.local.triton.supervisor import SupervisedTriton, TritonState

pytestmark = pytest.mark.triton

MEBIBYTES = 320
"""More than Triton and a small model take, and much less than the machine has."""
MORE_THAN_IT_HAS = 'held = [b"x" * (16 << 20) for _ in range(64)]'
MORE_THAN_IT_MAY = "resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)); held = bytearray(4 << 30)"
REMEDY = "give this machine more memory, end other programs, or deploy fewer or smaller models"
CODE = """
import resource
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        {load}

    def execute(self, requests):
        inputs = [pb_utils.get_input_tensor_by_name(request, "x").as_numpy() for request in requests]
        if inputs[0][0][0] > 10:
            {call}
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", 2 * x)]) for x in inputs]
"""


def code(*, load: str = "pass", call: str = "pass") -> str:
    """A model that doubles; what it does when it is loaded, and for a first value above 10."""
    return CODE.format(load=load, call=call)


slow = pytest.mark.skipif(
    "FLEET_SLOW" not in os.environ, reason="a quarter of a minute: FLEET_SLOW=1 runs it"
)


@pytest.fixture
def group() -> Iterator[Path]:
    with memory_group(MEBIBYTES) as group:
        yield group


@contextmanager
def supervised_triton(
    runtime: TritonRuntime, folder: Path, model: str
) -> Iterator[tuple[SupervisedTriton, Client]]:
    """A Triton as `fleet local` runs it, with the gateway before it; nothing is left of it afterwards."""
    stage(python_model(folder, model), folder / "staged")
    triton = SupervisedTriton(runtime, folder / "staged", QUIET, log=folder / "triton.log", ping_interval=0.1)

    @contextmanager
    def serve_caller(_endpoint: EndpointId) -> Iterator[Container]:
        yield SingleModel(triton, "AllTraffic", differences=[], record=lambda _measure, _value: None)

    triton.start()
    assert triton.server is not None
    processes = [triton.server.process]
    try:
        yield triton, Client(SignedFor(Gateway(serve_caller)))
        processes.append(triton.server.process)
    finally:
        triton.stop()
    for process in processes:
        assert is_session_over(process.pid)
        assert shared_memory(process) == []


def invoke(client: Client, x: float) -> tuple[int, dict[str, Any]]:
    tensor = {"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [x, x]}
    answer = client.post("/endpoints/any/invocations", data=json.dumps({"inputs": [tensor]}))
    return answer.status_code, json.loads(answer.data)


def test_a_model_that_may_not_have_the_memory_to_load_is_refused_with_its_line_and_the_remedy(
    starter: Starter, tmp_path: Path
) -> None:
    with pytest.raises(HostingError, match="model 'double' failed to load: MemoryError") as caught:
        starter.start(python_model(tmp_path, code(load=MORE_THAN_IT_MAY)))
    assert "(double/1/model.py:8)" in str(caught.value)
    assert f"(out of memory: {REMEDY}" in str(caught.value)
    assert is_session_over(starter.servers[0].process.pid)


def test_a_model_that_the_kernel_ends_while_it_is_loaded_is_refused_with_the_likely_reason(
    runtime: TritonRuntime, tmp_path: Path, group: Path
) -> None:
    starter = Starter(runtime_in(runtime, group, tmp_path), tmp_path)
    with pytest.raises(HostingError, match="Stub process 'double_0_0' is not healthy") as caught:
        starter.start(python_model(tmp_path, code(load=MORE_THAN_IT_HAS)))
    assert ooms(group) == 1
    assert "its process crashed, or was killed, for example by the kernel when memory ran out" in str(
        caught.value
    )
    assert REMEDY in str(caught.value)
    assert is_session_over(starter.servers[0].process.pid)
    assert shared_memory(starter.servers[0].process) == []


def test_a_server_that_the_kernel_ends_while_it_starts_is_explained(
    runtime: TritonRuntime, tmp_path: Path, group: Path
) -> None:
    load = f"import os; open(f'/proc/{{os.getppid()}}/oom_score_adj', 'w').write('1000'); {MORE_THAN_IT_HAS}"
    starter = Starter(runtime_in(runtime, group, tmp_path), tmp_path)
    with pytest.raises(HostingError, match="Triton did not start: it was ended by SIGKILL, probably by the"):
        starter.start(python_model(tmp_path, code(load=load)))
    assert ooms(group) >= 1
    assert is_session_over(starter.servers[0].process.pid)
    assert shared_memory(starter.servers[0].process) == []


def test_a_call_for_which_a_model_may_not_have_the_memory_fails_alone(
    runtime: TritonRuntime, tmp_path: Path
) -> None:
    with supervised_triton(runtime, tmp_path, code(call=MORE_THAN_IT_MAY)) as (triton, client):
        status, values = invoke(client, 11.0)
        assert (status, values["OriginalStatusCode"]) == (424, 500)
        assert "MemoryError" in values["OriginalMessage"]
        assert invoke(client, 1.0)[0] == 200
        assert (triton.state, triton.restarts, triton.problems) == (TritonState.READY, 0, [])


def test_a_server_that_the_kernel_ends_is_started_again_and_the_log_says_why(
    runtime: TritonRuntime, tmp_path: Path, group: Path
) -> None:
    limited_runtime = runtime_in(runtime, group, tmp_path)
    with supervised_triton(limited_runtime, tmp_path, code(call=MORE_THAN_IT_HAS)) as (triton, client):
        assert triton.server is not None
        pid = triton.server.process.pid
        end_first(pid)
        status, values = invoke(client, 11.0)
        assert (status, values["OriginalStatusCode"]) == (424, 0)
        assert triton.wait_for(TritonState.RESTART, 10.0)
        assert triton.wait_for(TritonState.READY, 60.0)
        assert ooms(group) >= 1  # the stub may ask for more before it sees that its server has ended
        assert invoke(client, 1.0)[0] == 200
        log_lines = (tmp_path / "triton.log").read_text().splitlines()
    # Where memory is still short, the kernel may end the next server as well.
    [line] = [line for line in log_lines if line.startswith(f"--- Triton, process {pid}, ")]
    assert ", was ended by SIGKILL, probably by the kernel, which" in line
    assert REMEDY in line
    assert line.endswith("; it is restarted")


@slow
def test_a_model_that_the_kernel_ends_stays_away_as_in_the_container_and_status_and_log_say_so(
    runtime: TritonRuntime, tmp_path: Path, group: Path
) -> None:
    limited_runtime = runtime_in(runtime, group, tmp_path)
    with supervised_triton(limited_runtime, tmp_path, code(call=MORE_THAN_IT_HAS)) as (triton, client):
        for x in (11.0, 1.0):
            status, values = invoke(client, x)
            assert (status, values["OriginalStatusCode"]) == (424, 500)
            assert "Stub process 'double_0_0' is not healthy" in values["OriginalMessage"]
        assert ooms(group) == 1
        assert triton.server is not None
        assert triton.server.pool.request("GET", "/ping").status == 200
        pause = threading.Event()
        assert any(triton.problems or pause.wait(0.05) for _ in range(200))
        [problem] = triton.problems
        assert (triton.state, triton.restarts) == (TritonState.READY, 0)
    assert "of a model was ended by SIGKILL, probably by the kernel" in problem
    assert REMEDY in problem
    assert problem.endswith("; Triton does not start it again, so its calls fail")
    assert f"--- {problem}\n" in (tmp_path / "triton.log").read_text()


@slow
def test_of_many_targets_the_one_that_memory_does_not_suffice_for_is_refused_and_the_others_are_served(
    runtime: TritonRuntime, tmp_path: Path, group: Path
) -> None:
    zoo = Zoo(runtime_in(runtime, group, tmp_path), tmp_path)
    zoo.start()
    try:
        process = zoo.server.process
        zoo.upload("small.tar.gz", times(2))
        zoo.upload("large.tar.gz", times(3, megabytes=2 * MEBIBYTES))
        assert zoo.call("small.tar.gz") == 2.0
        with pytest.raises(ClientError) as caught:
            zoo.call("large.tar.gz")
        response: Any = caught.value.response
        assert (response["Error"]["Code"], response["OriginalStatusCode"]) == ("ModelError", 400)
        assert "Stub process 'large.tar.gz_0_0' is not healthy" in response["OriginalMessage"]
        assert REMEDY in response["OriginalMessage"]
        assert ooms(group) == 1
        assert zoo.call("small.tar.gz") == 2.0
        zoo.upload("late.tar.gz", times(4, initialize=f"        import resource; {MORE_THAN_IT_MAY}"))
        with pytest.raises(ClientError) as caught:
            zoo.call("late.tar.gz")
        response = caught.value.response
        assert (response["Error"]["Code"], response["OriginalStatusCode"]) == ("ModelError", 507)
        assert zoo.report()["evictions"] == ["small.tar.gz"]
        assert zoo.call("small.tar.gz") == 2.0
        assert zoo.report()["restarts"] == 0
    finally:
        zoo.stop()
    assert is_session_over(process.pid)
    assert shared_memory(process) == []
    assert "MemoryError" in zoo.log.read_text()
