"""Builds of engines, run for real on this machine: the script, bash and S3 are real, GPU and trtexec are not."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import yaml

from compile_engine.compile import compile_engine
from engine_job.store import store_engine
from engine_request import files
from engine_request.bucket import Bucket
from engine_request.outcome import outcome
from engine_request.problems import BuildError
from engine_request.request import EngineRequest as ScriptRequest
from fleet_emulator.stand_ins import ENGINE_TOOLS
from fleet_emulator.stand_ins.engines.calls import CALLS
from tests.support.embedded_app.clients import client
from tests.support.embedded_keys import VARIABLES
from tests.support.embedded_s3 import BUCKET
from tests.support.onnx_graphs import FLOAT, add, graph_bytes
from tests.support.running_aws import running_aws
from triton_fleet.builds.engines.artifacts import (
    FAILURE,
    JOBS,
    MANIFEST,
    PLAN,
    REQUEST,
    built_key,
    onnx_key,
    script_key,
)
from triton_fleet.builds.engines.request import EngineJob, EngineRequest
from triton_fleet.builds.script import SOURCES, build_script

TENSORRT = "10.9.0.34"
ONNX = graph_bytes(
    {"left": (FLOAT, ["batch", 2]), "right": (FLOAT, ["batch", 2])},
    {"sum": (FLOAT, ["batch", 2])},
    nodes=[add("left", "right", "sum")],
)
ARGUMENTS = (
    "--minShapes=left:1x2,right:1x2",
    "--optShapes=left:4x2,right:4x2",
    "--maxShapes=left:8x2,right:8x2",
    "--fp16",
    "--skipInference",
)
JOB = EngineJob(
    kind="processing",
    instance_type="ml.g4dn.xlarge",
    role="arn:aws:iam::111122223333:role/engines",
    volume_gb=30,
    volume_key=None,
    prefix=JOBS,
    tags={"environment": "dev"},
)


@dataclass
class EngineStore:
    """An artifact bucket in an embedded AWS, and what a machine that builds for it finds around it."""

    s3: Any
    url: str
    folder: Path
    variables: dict[str, str] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)
    failures: list[BuildError] = field(default_factory=list)

    def request(self, *, onnx: bytes = ONNX, **changes: Any) -> EngineRequest:
        """A build that nobody has asked for before; its ONNX model is in the bucket."""
        number = next(self.numbers)
        key = f"sha256:{hashlib.sha256(str(number).encode()).hexdigest()}"
        digest = f"sha256:{hashlib.sha256(onnx).hexdigest()}"
        image = "763104351884.dkr.ecr.us-east-1.amazonaws.com/sagemaker-tritonserver:25.04-py3"
        request = EngineRequest(
            key=key,
            model="adder",
            bucket=BUCKET,
            onnx=onnx_key(digest),
            onnx_digest=digest,
            onnx_size=len(onnx),
            script=script_key(build_script()[1]),
            arguments=ARGUMENTS,
            gpu="A10G",
            compute_capability="8.6",
            image=image,
            least_driver="525",
            plan=built_key(key, PLAN),
            manifest=built_key(key, MANIFEST),
            failure=built_key(key, FAILURE),
            seconds=600,
            job=JOB,
        )
        self.put(request.onnx, onnx)
        return replace(request, **changes)

    def address(self, request: EngineRequest) -> str:
        """Where the script finds the request."""
        key = built_key(request.key, REQUEST)
        self.put(key, request.json().encode())
        return f"s3://{BUCKET}/{key}"

    def put(self, key: str, body: bytes) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)

    def body(self, key: str) -> bytes:
        content: bytes = self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return content

    def has(self, key: str) -> bool:
        return bool(self.s3.list_objects_v2(Bucket=BUCKET, Prefix=key)["KeyCount"])

    def keys(self) -> list[str]:
        return [content["Key"] for content in self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", ())]

    def json(self, key: str) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body(key))
        return document

    def inputs(self, request: EngineRequest) -> Path:
        """A folder with the request and the ONNX model that the bucket has."""
        folder = self.folder / f"input-{request.key[-8:]}"
        folder.mkdir(exist_ok=True)
        (folder / files.REQUEST).write_text(request.json(), encoding="utf-8")
        (folder / files.ONNX).write_bytes(self.body(request.onnx))
        return folder

    @property
    def outputs(self) -> Path:
        """The folder of the plan and its record."""
        return self.folder / "output"

    def compile(self, request: EngineRequest) -> int:
        """Compile in this process, which has the machine's environment; the exit code."""
        inputs = self.inputs(request)
        return outcome(lambda: compile_engine(inputs, self.outputs), self.failures.append)

    def store(self, request: EngineRequest, *, by: str = "engine-1") -> None:
        """Put what was compiled into the bucket."""
        store_engine(ScriptRequest.of(request.json().encode()), Bucket(self.s3, BUCKET), self.outputs, by=by)

    @property
    def calls(self) -> list[list[str]]:
        """Of the stand-ins, since the machine is there."""
        return read_calls(self.folder / "calls")

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process: an A10G, the image's TensorRT, and no AWS but the embedded one."""
        path = os.pathsep.join([str(ENGINE_TOOLS), str(Path(sys.executable).parent), os.environ["PATH"]])
        return {
            "PATH": path,
            "TMPDIR": str(self.folder),
            "AWS_ENDPOINT_URL": self.url,
            **VARIABLES,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "TRT_VERSION": TENSORRT,
            "FLEET_STAND_IN_GPU": "A10G",
            "FLEET_STAND_IN_COMPUTE_CAPABILITY": "8.6",
            CALLS: str(self.folder / "calls"),
            **self.variables,
        }


@contextmanager
def engine_store(folder: Path) -> Iterator[EngineStore]:
    """A store of which the first object is the build script."""
    with running_aws() as aws:
        s3 = client(aws, "s3")
        s3.create_bucket(Bucket=BUCKET)
        store = EngineStore(s3, aws.url, folder)
        content, digest = build_script()
        store.put(script_key(digest), content)
        yield store


def unpacked_script(folder: Path) -> Path:
    """The build script as CodeBuild's agent unpacks its source."""
    with ZipFile(io.BytesIO(build_script()[0])) as archive:
        archive.extractall(folder)
    return folder


def buildspec_command(name: str) -> list[str]:
    """The commands of a buildspec in one bash, as version 0.2 runs them, until one fails.

    What it says of runtimes and images is CodeBuild's business: the Python is the one on PATH.
    """
    buildspec = yaml.safe_load((SOURCES / f"{name}.buildspec.yaml").read_text(encoding="utf-8"))
    phases = [buildspec["phases"].get(text, {}) for text in ("install", "pre_build", "build", "post_build")]
    commands = [command for phase in phases for command in phase.get("commands", ())]
    return ["bash", "-e", "-c", "\n".join(commands)]


def start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
    """A process whose output is one pipe."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def read_calls(file: Path) -> list[list[str]]:
    """The calls so far, each as a name and arguments."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
