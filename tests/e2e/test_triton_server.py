"""A real Triton: why it does not start is said, what is killed starts again, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import psutil
import pytest
from onnx import TensorProto, helper

from fleet.findings import CannotRunError
from fleet.local.hosting import HostingError
from fleet.local.triton.ports import free_ports
from fleet.local.triton.runtime import TritonRuntime, find_runtime
from fleet.local.triton.server import TritonServer
from fleet.local.triton.staging import stage
from fleet.local.triton.supervised import State, SupervisedTriton

pytestmark = pytest.mark.triton

QUIET = {"SAGEMAKER_TRITON_LOG_VERBOSE": "false"}
TENSORS = """
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 2 ] } ]
"""
DOUBLE = """
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        inputs = [pb_utils.get_input_tensor_by_name(request, "x").as_numpy() for request in requests]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", 2 * x)]) for x in inputs]
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> TritonRuntime:
    try:
        return find_runtime(tmp_path_factory.mktemp("runtime"))
    except CannotRunError as error:
        pytest.skip(str(error))


def _python_model(folder: Path, code: str = DOUBLE, name: str = "double") -> Path:
    version = folder / "repository" / name / "1"
    version.mkdir(parents=True)
    (version / "model.py").write_text(code)
    (version.parent / "config.pbtxt").write_text(
        f'backend: "python" {TENSORS} instance_group {{ kind: KIND_GPU }}'
    )
    return folder / "repository"


def _onnx_model(folder: Path, config: str | None, shape: list[str | int]) -> Path:
    """A model that doubles x into y."""
    version = folder / "repository" / "double" / "1"
    version.mkdir(parents=True)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [x], [y])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        version / "model.onnx",
    )
    if config is not None:
        (version.parent / "config.pbtxt").write_text(config)
    return folder / "repository"


def _call(port: int | None, x: list[Any]) -> list[float]:
    tensor = {"name": "x", "shape": list(np.shape(x)), "datatype": "FP32", "data": x}
    body = json.dumps({"inputs": [tensor]}).encode()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/invocations", body, timeout=30) as answer:
        (output,) = json.loads(answer.read())["outputs"]
    return [*output["shape"], *output["data"]]


def _alive(session: int) -> list[str]:
    """The processes of that session, without those that are dead and only not yet reaped."""
    names = []
    for process in psutil.process_iter(["name", "status"]):
        try:
            if os.getsid(process.pid) == session and process.info["status"] != psutil.STATUS_ZOMBIE:
                names.append(process.info["name"])
        except ProcessLookupError:
            continue
    return names


def _all_gone(session: int) -> bool:
    pause = threading.Event()
    return any(not _alive(session) or pause.wait(0.05) for _ in range(100))


def _shared_memory() -> set[Path]:
    return set(Path("/dev/shm").glob("triton_fleet_*"))


class Starter:
    """Stages a repository, starts a server on it, and ends it with the test."""

    def __init__(self, runtime: TritonRuntime, folder: Path) -> None:
        self.runtime, self.folder = runtime, folder
        self.servers: list[TritonServer] = []

    def start(
        self, repository: Path, environment: dict[str, str] = QUIET, timeout: float = 60.0
    ) -> TritonServer:
        stage(repository, self.folder / "staged")
        server = TritonServer(
            self.runtime, self.folder / "staged", environment, log=self.folder / "triton.log"
        )
        self.servers.append(server)
        server.start()
        server.wait_ready(timeout)
        return server


@pytest.fixture
def starter(runtime: TritonRuntime, tmp_path: Path) -> Iterator[Starter]:
    starter = Starter(runtime, tmp_path)
    yield starter
    for server in starter.servers:
        server.stop()


def test_a_python_model_that_fails_to_initialize_is_named_with_its_error_and_line(
    starter: Starter, tmp_path: Path
) -> None:
    code = DOUBLE.replace(
        "    def execute", "    def initialize(self, args):\n        open('/no/such')\n\n    def execute"
    )
    with pytest.raises(HostingError) as caught:
        starter.start(_python_model(tmp_path, code))
    problem = str(caught.value)
    assert "model 'double' failed to load: FileNotFoundError: [Errno 2] No such file or directory" in problem
    assert "(double/1/model.py:8)" in problem
    assert str(tmp_path / "triton.log") in problem
    assert "\n" not in problem


def test_a_python_model_whose_package_is_missing_names_the_package(starter: Starter, tmp_path: Path) -> None:
    with pytest.raises(
        HostingError, match=r"model 'double' failed to load: ModuleNotFoundError: .* 'no_such_package'"
    ):
        starter.start(_python_model(tmp_path, f"import no_such_package\n{DOUBLE}"))


def test_an_onnx_file_that_is_none_is_named_with_the_parsers_words(starter: Starter, tmp_path: Path) -> None:
    repository = _onnx_model(tmp_path, f'platform: "onnxruntime_onnx" {TENSORS}', ["n", 2])
    (repository / "double" / "1" / "model.onnx").write_text("garbage")
    with pytest.raises(HostingError, match=r"model 'double' failed to load: .*Protobuf parsing failed"):
        starter.start(repository)


def test_a_tensor_that_the_onnx_model_lacks_fails_the_load(starter: Starter, tmp_path: Path) -> None:
    config = f'platform: "onnxruntime_onnx" {TENSORS}'.replace('"y"', '"z"')
    with pytest.raises(HostingError, match="unexpected inference output 'z', allowed outputs are: y"):
        starter.start(_onnx_model(tmp_path, config, ["n", 2]))


def test_a_backend_that_this_machine_lacks_is_named_with_those_it_has(
    starter: Starter, tmp_path: Path
) -> None:
    repository = _onnx_model(tmp_path, f'platform: "tensorrt_plan" {TENSORS}', ["n", 2])
    with pytest.raises(HostingError, match=r"'tensorrt'.*the backends of this machine: onnxruntime, python"):
        starter.start(repository)


def test_a_config_with_an_unknown_field_is_named_with_its_line(starter: Starter, tmp_path: Path) -> None:
    repository = _python_model(tmp_path)
    (repository / "double" / "config.pbtxt").write_text('backend: "python"\nno_such_field: 1\n')
    with pytest.raises(
        HostingError, match=r"config.pbtxt of model 'double' cannot be read: line 2:14: .*no_such_field"
    ):
        starter.start(repository)


def test_a_server_that_is_not_ready_in_time_is_stopped_and_the_model_it_waits_for_is_named(
    starter: Starter, tmp_path: Path
) -> None:
    code = DOUBLE.replace(
        "    def execute",
        "    def initialize(self, args):\n        import time; time.sleep(60)\n\n    def execute",
    )
    with pytest.raises(HostingError, match=r"not ready after 3 s, still loading double"):
        starter.start(_python_model(tmp_path, code), timeout=3.0)
    assert starter.servers[0].process.dead.is_set()
    assert _all_gone(starter.servers[0].process.pid)


def test_an_option_that_triton_does_not_know_is_named(starter: Starter, tmp_path: Path) -> None:
    with pytest.raises(HostingError, match="unrecognized option '--no-such-option'"):
        starter.start(_python_model(tmp_path), {"SAGEMAKER_TRITON_ADDITIONAL_ARGS": "--no-such-option"})


def test_a_port_that_somebody_else_took_first_is_given_up_for_another(
    starter: Starter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(socket.create_server(("", 0))) as other:
        taken = [[other.getsockname()[1], *free_ports(2)]]
        monkeypatch.setattr(
            "fleet.local.triton.server.free_ports", lambda count: taken.pop() if taken else free_ports(count)
        )
        server = starter.start(_python_model(tmp_path))
    assert not taken
    assert _call(server.port, [[1, 2]]) == [1, 2, 2, 4]


def test_stopping_leaves_no_process_and_no_shared_memory(starter: Starter, tmp_path: Path) -> None:
    before = _shared_memory()
    server = starter.start(_python_model(tmp_path))
    session = server.process.pid
    assert sorted(_alive(session)) == ["triton_python_backend_stub", "tritonserver"]
    assert _shared_memory() > before
    server.stop()
    assert _all_gone(session)
    assert _shared_memory() <= before


def test_a_killed_server_is_started_again_and_answers(runtime: TritonRuntime, tmp_path: Path) -> None:
    before = _shared_memory()
    stage(_python_model(tmp_path), tmp_path / "staged")
    triton = SupervisedTriton(runtime, tmp_path / "staged", QUIET, log=tmp_path / "triton.log")
    assert str(triton.state) == "starting"
    assert triton.port is None
    triton.start()
    try:
        assert str(triton.state) == "ready"
        assert _call(triton.port, [[1, 2]]) == [1, 2, 2, 4]
        assert triton.server is not None
        killed = triton.server.process.pid

        os.kill(killed, signal.SIGKILL)

        assert triton.wait_for(State.RESTARTING, 10.0)
        assert triton.port is None
        assert _all_gone(killed)
        assert triton.wait_for(State.READY, 60.0)
        assert _call(triton.port, [[3, 4]]) == [1, 2, 6, 8]
        assert triton.server.process.pid != killed
        last = triton.server.process.pid
    finally:
        triton.stop()
    assert str(triton.state) == "stopped"
    assert triton.restarts == 1
    assert triton.port is None
    assert _all_gone(last)
    assert _shared_memory() <= before


def test_a_server_that_cannot_start_again_is_tried_until_it_can(
    runtime: TritonRuntime, tmp_path: Path
) -> None:
    staged = tmp_path / "staged"
    stage(_python_model(tmp_path), staged)
    triton = SupervisedTriton(runtime, staged, QUIET, log=tmp_path / "triton.log")
    triton.start()
    try:
        assert triton.server is not None
        staged.rename(tmp_path / "away")
        os.kill(triton.server.process.pid, signal.SIGKILL)
        assert triton.wait_for(State.FAILED, 30.0)
        (tmp_path / "away").rename(staged)
        assert triton.wait_for(State.READY, 60.0)
        assert _call(triton.port, [[1, 2]]) == [1, 2, 2, 4]
    finally:
        triton.stop()


def test_a_first_start_that_fails_is_not_tried_again(runtime: TritonRuntime, tmp_path: Path) -> None:
    stage(_python_model(tmp_path, "no Python"), tmp_path / "staged")
    triton = SupervisedTriton(runtime, tmp_path / "staged", QUIET, log=tmp_path / "triton.log")
    with pytest.raises(HostingError, match="SyntaxError"):
        triton.start()
    assert str(triton.state) == "failed"
    assert not triton.wait_for(State.READY, 1.0)


def test_stopping_while_it_starts_ends_the_start(runtime: TritonRuntime, tmp_path: Path) -> None:
    code = DOUBLE.replace(
        "    def execute",
        "    def initialize(self, args):\n        import time; time.sleep(60)\n\n    def execute",
    )
    stage(_python_model(tmp_path, code), tmp_path / "staged")
    triton = SupervisedTriton(runtime, tmp_path / "staged", QUIET, log=tmp_path / "triton.log")
    with ThreadPoolExecutor(1) as pool:
        start = pool.submit(triton.start)
        while triton.server is None or not (tmp_path / "triton.log").exists():
            threading.Event().wait(0.05)
        triton.stop()
        assert isinstance(start.exception(20.0), HostingError)
    assert str(triton.state) == "stopped"


def test_an_onnx_model_without_config_is_completed_and_batches_across_requests(
    starter: Starter, tmp_path: Path
) -> None:
    server = starter.start(_onnx_model(tmp_path, None, ["n", 2]))
    calls = [[[float(number), 1.0]] * (1 + number % 3) for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda x: _call(server.port, x), calls))
    for x, answer in zip(calls, answers, strict=True):
        assert answer == [len(x), 2, *(2 * np.array(x)).ravel()]
    with pytest.raises(urllib.error.HTTPError, match="400") as caught:
        _call(server.port, [[1.0, 1.0]] * 5)
    caught.value.close()


def test_an_onnx_model_may_reshape_its_tensors(starter: Starter, tmp_path: Path) -> None:
    config = """
    platform: "onnxruntime_onnx"
    input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] reshape { shape: [ 1, 2 ] } } ]
    output [ { name: "y" data_type: TYPE_FP32 dims: [ 2 ] reshape { shape: [ 1, 2 ] } } ]
    """
    server = starter.start(_onnx_model(tmp_path, config, [1, 2]))
    assert _call(server.port, [1, 2]) == [2, 2, 4]


def test_an_error_of_onnx_runtime_reaches_the_caller_and_later_calls_succeed(
    starter: Starter, tmp_path: Path
) -> None:
    config = f'platform: "onnxruntime_onnx" {TENSORS}'.replace("dims: [ 2 ]", "dims: [ -1 ]")
    server = starter.start(_onnx_model(tmp_path, config, ["n", 2]))
    with pytest.raises(urllib.error.HTTPError) as caught:
        _call(server.port, [[1, 2, 3]])
    with caught.value as answer:
        assert answer.code == 500
        assert b"onnx runtime error: " in answer.read()
    assert _call(server.port, [[1, 2]]) == [1, 2, 2, 4]
