"""Small models for a real Triton, and what is looked for after it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
import psutil
from onnx import TensorProto, helper

from triton_fleet.local.triton.process import SHARED_MEMORY, ProcessGroup
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.triton.server import TritonServer
from triton_fleet.local.triton.staging import stage

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


def python_model(folder: Path, code: str = DOUBLE, name: str = "double") -> Path:
    version = folder / "repository" / name / "1"
    version.mkdir(parents=True)
    (version / "model.py").write_text(code)
    (version.parent / "config.pbtxt").write_text(
        f'backend: "python" {TENSORS} instance_group {{ kind: KIND_GPU }}'
    )
    return folder / "repository"


def onnx_model(
    folder: Path, config: str | None, shape: list[str | int], *, ir_version: int = 8, opset: int = 17
) -> Path:
    """A model that doubles x into y."""
    version = folder / "repository" / "double" / "1"
    version.mkdir(parents=True)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "double", [x], [y])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version),
        version / "model.onnx",
    )
    if config is not None:
        (version.parent / "config.pbtxt").write_text(config)
    return folder / "repository"


class RefusedError(Exception):
    """Triton's status and words."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(f"{status} {message}")


def post(
    server: TritonServer,
    body: bytes,
    path: str = "/invocations",
    headers: Mapping[str, str] = MappingProxyType({"Content-Type": "application/json"}),
) -> tuple[str, bytes]:
    """The answer's content type and body.

    Raises:
        RefusedError: it is no 200.
    """
    answer = server.pool.request("POST", path, body=body, headers=headers, timeout=60)
    if answer.status != 200:
        raise RefusedError(answer.status, answer.data.decode())
    return answer.headers.get("Content-Type", ""), answer.data


def call(server: TritonServer | None, x: list[Any]) -> list[float]:
    """The shape and the values of y.

    Raises:
        RefusedError: Triton refuses.
    """
    assert server is not None
    tensor = {"name": "x", "shape": list(np.shape(x)), "datatype": "FP32", "data": x}
    body = json.dumps({"inputs": [tensor]}).encode()
    _, answer = post(server, body)
    (output,) = json.loads(answer)["outputs"]
    return [*output["shape"], *output["data"]]


def alive(session: int) -> list[str]:
    """The processes of that session, without those that are dead and only not yet reaped."""
    names = []
    for process in psutil.process_iter(["name", "status"]):
        try:
            if os.getsid(process.pid) == session and process.info["status"] != psutil.STATUS_ZOMBIE:
                names.append(process.info["name"])
        except ProcessLookupError:
            continue
    return names


def is_session_over(session: int) -> bool:
    pause = threading.Event()
    return any(not alive(session) or pause.wait(0.05) for _ in range(100))


def shared_memory(process: ProcessGroup) -> list[Path]:
    """Files in shared memory of a server, and of no other."""
    return list(SHARED_MEMORY.glob(f"{process.shm_prefix}*"))


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
