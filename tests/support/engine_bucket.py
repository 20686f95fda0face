"""An endpoint with a TensorRT engine, and an embedded AWS whose CodeBuild builds it with stand-ins."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.artifact_bucket import REGION, ArtifactBucket, empty_bucket
from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import ROOT, FleetFolder
from tests.support.onnx_graphs import FLOAT, graph_bytes
from tests.support.silent_progress import SilentProgress
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.store.builds.codebuild import BuildClients
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.publish.publish import PublishResult, publish

ROLE = "arn:aws:iam::123456789012:role/any"
PROJECT = "triton-fleet-dev-engines-job"
PACE = Pace(look=0.05, longest_pause=0.05)
CONFIG = 'platform: "tensorrt_plan"\nmax_batch_size: 8\n'
TENSORS = """\
input { name: "x" data_type: TYPE_FP32 dims: 8 }
output { name: "y" data_type: TYPE_FP32 dims: 8 }
"""
SPEC = """\
endpoint: NAME
MODEtriton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - archive: NAME
    repository: ../NAME
    engines:
      - {model: bert, onnx: ../onnx/NAME.onnx, precision: fp16, shapes: {x: [1x8, 4x8, 8x8]}}
"""


def small_onnx(batch: str = "n", **options: Any) -> bytes:
    """A graph of one input and one output; names of the open dimension make different files."""
    return graph_bytes({"x": (FLOAT, [batch, 8])}, {"y": (FLOAT, [batch, 8])}, **options)


@dataclass
class EngineBucket:
    """The bucket of a fleet folder, and what builds its engines."""

    artifacts: ArtifactBucket
    clients: BuildClients
    pace: Pace = field(default=PACE)

    @property
    def root(self) -> Path:
        return self.artifacts.folder.root

    def endpoint(
        self, name: str = "sentences", *, mode: str = "", keys: str = "", model: bytes = b""
    ) -> None:
        """An endpoint of one TensorRT model, which has no version folder yet; and its lock."""
        folder = self.artifacts.folder
        folder.write(f"{name}/bert/config.pbtxt", CONFIG + TENSORS)
        onnx = self.root / "onnx" / f"{name}.onnx"
        onnx.parent.mkdir(exist_ok=True)
        onnx.write_bytes(model or small_onnx())
        spec = SPEC.replace("NAME", name).replace("MODE", mode)
        folder.write(
            f"model_specs/{name}.yaml", spec.replace("    engines", f"{keys}    engines") if keys else spec
        )
        self.artifacts.lock()

    def publish(self, progress: PublishProgress | None = None, pace: Pace | None = None) -> PublishResult:
        """Publish what the locks say."""
        artifacts = self.artifacts
        return publish(
            artifacts.s3,
            artifacts.project,
            artifacts.endpoints,
            progress or SilentProgress(),
            lambda: self.clients,
            pace or self.pace,
        )

    @property
    def builds(self) -> list[str]:
        """The ids of all builds that were started, the newest first."""
        ids: list[str] = self.clients.codebuild.list_builds_for_project(projectName=PROJECT)["ids"]
        return ids

    def key(self, name: str = "sentences") -> str:
        """That of the endpoint's engine."""
        (endpoint,) = [endpoint for endpoint in self.artifacts.endpoints if endpoint.name == name]
        return endpoint.engines[0].build.key

    def project(self) -> None:
        """The project as Foundation makes it, anew, whose builds are forgotten, and the role of its jobs."""
        codebuild = self.clients.codebuild
        codebuild.delete_project(name=PROJECT)
        codebuild.create_project(
            name=PROJECT,
            serviceRole=ROLE,
            timeoutInMinutes=10,
            source={
                "type": "NO_SOURCE",
                "location": "moto wants one",
                "buildspec": (ROOT / "engine_build/job.buildspec.yaml").read_text(),
            },
            artifacts={"type": "NO_ARTIFACTS"},
            environment={
                "type": "LINUX_CONTAINER",
                "image": "any",
                "computeType": "BUILD_GENERAL1_SMALL",
                "environmentVariables": [],
            },
            logsConfig={"cloudWatchLogs": {"status": "ENABLED", "groupName": "/triton-fleet/dev/engines"}},
        )

        self.clients.ssm.put_parameter(
            Name="/triton-fleet/dev/engine-job-role", Value=ROLE, Type="String", Overwrite=True
        )

    def respell(self, old: str, new: str, name: str = "sentences") -> None:
        """Change an endpoint's spec."""
        file = self.root / f"model_specs/{name}.yaml"
        file.write_text(file.read_text().replace(old, new))

    def packed_files(self, name: str = "sentences") -> dict[str, bytes]:
        """The files of the endpoint's archive, by path, in their order."""
        (endpoint,) = [endpoint for endpoint in self.artifacts.endpoints if endpoint.name == name]
        return self.files(endpoint.model_data)

    def files(self, key: str) -> dict[str, bytes]:
        """The files of an archive, by path, in their order."""
        with tarfile.open(fileobj=io.BytesIO(self.artifacts.body(key))) as tar:
            files = {item.name: tar.extractfile(item) for item in tar if item.isfile()}
            return {path: file.read() for path, file in files.items() if file is not None}


def empty_engine_bucket(url: str, folder: FleetFolder) -> EngineBucket:
    """An empty bucket, and a project that has built nothing."""
    artifacts = empty_bucket(url, folder)
    bucket = EngineBucket(artifacts, replace(_clients(url), s3=artifacts.s3))
    bucket.project()
    return bucket


@cache
def _clients(url: str) -> BuildClients:
    """Making them takes longer than what most tests do with them."""
    make: Any = local_session(REGION, KEYS).client
    return BuildClients(**{name: make(name, endpoint_url=url) for name in ("s3", "ssm", "codebuild", "logs")})
