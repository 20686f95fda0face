"""The program of the shared container on this machine: a real nginx and a real Triton in a network of their own."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from shared_container.routes import SettingsError
from shared_container.settings import Places
from tests.support.fleet_folder import ROOT
from triton_fleet.local.triton.network import PrivateNetwork
from triton_fleet.local.triton.runtime import TritonRuntime

SOURCE = ROOT / "containers/shared"
PORT, TRITON_PORT, METRICS_PORT = 8080, 23000, 23500
ATTRIBUTES = "X-Amzn-SageMaker-Custom-Attributes"
BINARY = "application/vnd.sagemaker-triton.binary+json"
JSON = {"Content-Type": "application/json"}
SECONDS = 60.0
"""In which anything that is awaited has to happen."""

MODEL = """
import json
import os
import sys
import time

import numpy as np
import triton_python_backend_utils as pb_utils

FOLDER = os.environ["RECORDS"]
ERRORS = {-400: "INVALID_ARG", -404: "NOT_FOUND", -500: "INTERNAL", -503: "UNAVAILABLE"}


class TritonPythonModel:
    def initialize(self, args):
        self.name = f"{args['model_name']}/{args['model_version']}"
        print(json.dumps({"_aws": "of a model"}), flush=True)

    def answer(self, request):
        x = pb_utils.get_input_tensor_by_name(request, "x").as_numpy()
        with open(f"{FOLDER}/records", "a") as file:
            file.write(f"{self.name} {int(x.flat[0])}\\n")
        error = ERRORS.get(int(x.flat[0]))
        if error is not None:
            error = pb_utils.TritonError("of its own", getattr(pb_utils.TritonError, error))
            return pb_utils.InferenceResponse(error=error)
        while x.flat[0] == -1 and not os.path.exists(f"{FOLDER}/go"):
            time.sleep(0.01)
        return pb_utils.InferenceResponse([pb_utils.Tensor("y", x)])

    def execute(self, requests):
        return [self.answer(request) for request in requests]
"""
CONFIG = """
backend: "python"
version_policy: { all {} }
input [ { name: "x" data_type: TYPE_INT64 dims: [ -1 ] } ]
output [ { name: "y" data_type: TYPE_INT64 dims: [ -1 ] } ]
"""
TEXT_MODEL = """
import json

import numpy as np
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        answers = []
        for request in requests:
            text = pb_utils.get_input_tensor_by_name(request, "text").as_numpy()[0]
            texts = [text] * (300_000 if text == b"many" else 1)
            answers.append(pb_utils.InferenceResponse([pb_utils.Tensor("result", np.array(texts, dtype=object))]))
        return answers
"""
TEXT_CONFIG = """
backend: "python"
input [ { name: "text" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ { name: "result" data_type: TYPE_STRING dims: [ -1 ] } ]
"""


def write_model(
    repository: Path, name: str, versions: str = "1", code: str = MODEL, config: str = CONFIG
) -> None:
    for version in versions:
        (repository / name / version).mkdir(parents=True)
        (repository / name / version / "model.py").write_text(code)
    (repository / name / "config.pbtxt").write_text(config)


def require_nginx() -> tuple[str, str]:
    """The paths of nginx and its module njs; a test without them is skipped."""
    try:
        return Places().nginx_program(), Places().js_module_file()
    except SettingsError as error:
        pytest.skip(str(error))


def nginx_version() -> str:
    """The name by which this machine's nginx calls itself."""
    nginx, _ = require_nginx()
    process = subprocess.run([nginx, "-v"], capture_output=True, text=True, check=True)
    return process.stderr.strip().partition(": ")[2]


def joins_repeated_headers() -> bool:
    """Whether this machine's nginx joins them, as from 1.23 on; before, its variables have the first."""
    major, minor = nginx_version().partition("/")[2].split(".")[:2]
    return (int(major), int(minor)) >= (1, 23)


@dataclass(frozen=True)
class Answer:
    """The answer that a client gets."""

    status: int
    type: str
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class SharedContainer:
    """One run of `python3 -m shared_container serve`."""

    folder: Path
    runtime: TritonRuntime
    routes: Mapping[str, Any]
    options: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_nginx()
        self.network = PrivateNetwork(on_loss=lambda: None)
        self.records = self.folder / "records"
        self.log = self.folder / "log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the program; return at once."""
        places = [
            f"--tritonserver={self.runtime.binary}",
            f"--model-repository={self.folder / 'repository'}",
            f"--folder={self.folder / 'run'}",
            f"--triton-option=--backend-directory={self.runtime.backend_directory}",
            f"--triton-option=--cache-directory={self.runtime.cache_directory}",
        ]
        environment = {
            **{key: os.environ[key] for key in ("HOME", "LANG", "TMPDIR") if key in os.environ},
            **self.runtime.environment(),
            "PYTHONPATH": str(SOURCE),
            "RECORDS": str(self.folder),
            "SAGEMAKER_BIND_TO_PORT": str(PORT),
            "SAGEMAKER_SAFE_PORT_RANGE": "23000-23999",
            "TRITON_FLEET_ROUTES": json.dumps(self.routes),
            "TRITON_FLEET_OPTIONS": json.dumps(
                ["--allow-metrics=true", f"--metrics-port={METRICS_PORT}", *self.options]
            ),
            **self.variables,
        }
        command = [sys.executable, "-m", "shared_container", "serve", *places, *self.arguments]
        with self.log.open("wb") as log, self.network.start_within(command) as (network, descriptor):
            self.process = subprocess.Popen(
                network,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=[descriptor],
                start_new_session=True,
            )

    def wait_ready(self) -> None:
        """Return when /ping answers 200."""

        def is_ready() -> bool:
            assert self.process is not None
            assert self.process.poll() is None, self.log.read_text()
            try:
                return self.call("GET", "/ping").status == 200
            except OSError:
                return False

        self.wait(is_ready, "ready")

    def wait(self, condition: Any, what: str) -> None:
        """Return when the condition holds."""
        pause = threading.Event()
        for _ in range(int(SECONDS / 0.02)):
            if condition():
                return
            pause.wait(0.02)
        raise AssertionError(f"not {what} in {SECONDS} s: {self.log.read_text()[-4000:]}")

    def connection(self, port: int = PORT) -> http.client.HTTPConnection:
        """A connection into the network of the container."""
        connection = http.client.HTTPConnection("container", port)
        connection.sock = self.network.connect(port, SECONDS)
        return connection

    def call(
        self,
        method: str,
        path: str,
        body: bytes | str | None = None,
        headers: Mapping[str, str] | None = None,
        port: int = PORT,
    ) -> Answer:
        connection = self.connection(port)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers.get("Content-Type", ""), answer.read())
        finally:
            connection.close()

    def invoke(
        self, body: bytes | str, attributes: str | None = None, headers: Mapping[str, str] = JSON
    ) -> Answer:
        inputs = {**headers, **({} if attributes is None else {ATTRIBUTES: attributes})}
        return self.call("POST", "/invocations", body, inputs)

    def recorded_lines(self) -> list[str]:
        """Model, version and value of each request that reached a model."""
        return self.records.read_text().splitlines() if self.records.exists() else []

    def lines(self) -> list[dict[str, Any]]:
        """The log; each line has to be JSON."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def messages(self, source: str = "container") -> list[str]:
        return [line["message"] for line in self.lines() if line.get("source") == source]

    def processes(self) -> list[psutil.Process]:
        """The program and what it has started."""
        assert self.process is not None
        program = psutil.Process(self.process.pid)
        return [program, *program.children(recursive=True)]

    def stop(self) -> int:
        """Ask the program to end; its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(SECONDS)

    def close(self) -> None:
        """End all that a test has left."""
        if self.process is not None and self.process.poll() is None:
            processes = self.processes()
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            self.process.wait()
            psutil.wait_procs(processes[1:], timeout=SECONDS)
        self.network.close()
        shutil.rmtree(self.folder / "repository", ignore_errors=True)


def tensor(*values: int) -> str:
    """A request of Triton's in JSON."""
    data = {"name": "x", "shape": [len(values)], "datatype": "INT64", "data": list(values)}
    return json.dumps({"inputs": [data]})


def binary(*values: int) -> tuple[bytes, dict[str, str]]:
    """A request whose tensors are binary, both ways, and its content type."""
    data = struct.pack(f"<{len(values)}q", *values)
    x = {
        "name": "x",
        "shape": [len(values)],
        "datatype": "INT64",
        "parameters": {"binary_data_size": len(data)},
    }
    y = {"name": "y", "parameters": {"binary_data": True}}
    head = json.dumps({"inputs": [x], "outputs": [y]}).encode()
    return head + data, {"Content-Type": f"{BINARY};json-header-size={len(head)}"}
