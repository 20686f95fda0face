"""Nobody else is in the network of a Triton, and the code of its models reaches nothing outside of it."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.other_user import run_as_other_user
from tests.support.triton_models import Starter, call, python_model
from triton_fleet.findings import CannotRunError
from triton_fleet.local.triton.network import check_network

SERVICES = {
    "SAGEMAKER_TRITON_LOG_VERBOSE": "false",
    "SAGEMAKER_TRITON_ALLOW_METRICS": "true",
    "SAGEMAKER_TRITON_METRICS_PORT": "23000",
    "SAGEMAKER_TRITON_ALLOW_GRPC": "true",
    "SAGEMAKER_TRITON_GRPC_PORT": "23001",
}


def members(session: int) -> list[int]:
    return [pid for pid in psutil.pids() if session_of(pid) == session]


def session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


@pytest.mark.triton
def test_no_port_of_triton_is_in_a_network_that_anybody_else_is_in(starter: Starter, tmp_path: Path) -> None:
    server = starter.start(python_model(tmp_path), SERVICES)
    assert server.ports == (8080, 23000, 23001)
    ours = Path("/proc/self/ns/net").readlink()
    theirs = {Path(f"/proc/{pid}/ns/net").readlink() for pid in members(server.process.pid)}
    assert len(theirs - {ours}) == len(theirs) == 1
    sockets = psutil.net_connections("inet")  # of our network
    assert [socket for socket in sockets if socket.pid in members(server.process.pid)] == []
    assert call(server, [[1, 2]]) == [1, 2, 2, 4]


@pytest.mark.triton
def test_another_user_of_the_machine_does_not_enter_tritons_network(starter: Starter, tmp_path: Path) -> None:
    server = starter.start(python_model(tmp_path))
    script = "try: os.open(sys.argv[1], os.O_RDONLY)\nexcept PermissionError: print('refused')\n"
    for pid in members(server.process.pid):
        assert run_as_other_user(script, f"/proc/{pid}/ns/net") == "refused\n"


REACH = """
import socket
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        try:
            socket.create_connection((ADDRESS, PORT), timeout=5).close()
            reached = 1.0
        except OSError:
            reached = 0.0
        answer = pb_utils.Tensor("y", np.full((1, 2), reached, np.float32))
        return [pb_utils.InferenceResponse([answer]) for _ in requests]
"""


@pytest.mark.triton
def test_the_code_of_a_model_reaches_no_service_of_the_machine(
    starter: Starter, tmp_path: Path, gateway: EmbeddedAws
) -> None:
    code = REACH.replace("ADDRESS", repr("127.0.0.1")).replace("PORT", str(urlsplit(gateway.url).port))
    server = starter.start(python_model(tmp_path, code))
    assert call(server, [[1, 2]]) == [1, 2, 0, 0]


ENTER = """
import ctypes
import os
import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        entered = float(any(map(enters, filter(str.isdigit, os.listdir("/proc")))))
        answer = pb_utils.Tensor("y", np.full((1, 2), entered, np.float32))
        return [pb_utils.InferenceResponse([answer]) for _ in requests]


def enters(pid):
    try:
        other = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    except OSError:
        return False
    return ctypes.CDLL(None).setns(other, 0x40000000) == 0
"""


@pytest.mark.triton
def test_the_code_of_a_model_does_not_enter_the_network_of_the_machine(
    starter: Starter, tmp_path: Path
) -> None:
    server = starter.start(python_model(tmp_path, ENTER))
    assert call(server, [[1, 2]]) == [1, 2, 0, 0]


@pytest.mark.triton
def test_a_server_whose_way_in_is_killed_is_ended_so_that_another_can_start(
    starter: Starter, tmp_path: Path
) -> None:
    server = starter.start(python_model(tmp_path))
    member_processes = map(psutil.Process, members(server.process.pid))
    [way_in] = [
        member_process
        for member_process in member_processes
        if "namespace.py" in " ".join(member_process.cmdline())
    ]
    way_in.kill()
    way_in.wait(10)
    with pytest.raises(ConnectionRefusedError):
        server.connect(8080)
    assert server.process.dead.wait(10)


@pytest.mark.parametrize(
    ("files", "remedy"),
    [
        ({"userns": "0"}, "allow it"),
        ({"userns": "1"}, "in a container"),
        ({}, "in a container"),
    ],
)
def test_a_machine_that_gives_no_namespace_is_refused_with_the_reason_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], remedy: str
) -> None:
    refuses = tmp_path / "namespace.py"
    refuses.write_text("import sys; print('unshare: Operation not permitted', file=sys.stderr); sys.exit(71)")
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    setting = {"file": str(tmp_path / "userns"), "forbids": 0, "remedy": "allow it"}
    facts = {"settings": [setting], "otherwise": "in a container"}
    monkeypatch.setattr("triton_fleet.local.triton.network._SCRIPT", str(refuses))
    monkeypatch.setattr("triton_fleet.local.triton.network.data_file", lambda _name: facts)
    with pytest.raises(
        CannotRunError, match="no network namespace.*: unshare: Operation not permitted"
    ) as error_info:
        check_network()
    assert error_info.value.remedy == remedy
