"""The request to a build of an engine: one JSON document in the artifact bucket.

One file for both sides: the publisher writes the request, the build script reads it, and the package `fleet`
links to this file. So it keeps to the standard library of Python 3.10, and imports nothing of either side.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

JobKind = Literal["processing", "training"]


@dataclass(frozen=True, kw_only=True)
class EngineJob:
    """The SageMaker job that builds an engine.

    Attributes:
        kind: CreateProcessingJob or CreateTrainingJob.
        instance_type: `ml.g4dn.xlarge`, with the GPU of the endpoint.
        role: The ARN of the role that the job runs as.
        volume_gb: Of its volume.
        volume_key: The KMS key of the volume; None for AWS's own, or where the storage is local.
        prefix: Where the bucket keeps its inputs and outputs, below its name.
        tags: Of the job.
    """

    kind: JobKind
    instance_type: str
    role: str
    volume_gb: int
    volume_key: str | None = None
    prefix: str
    tags: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class EngineRequest:
    """One build, ready to be started.

    Attributes:
        key: The engine's.
        model: The model that it is for, for messages.
        bucket: The artifact bucket, whose keys all others here are.
        onnx: The ONNX model; `onnx_digest` is its content, `onnx_size` its bytes.
        script: The build script, which a job is given.
        arguments: trtexec's, all but those that name files.
        gpu: As nvidia-smi's name of it contains it: `A10G`.
        compute_capability: `8.6`.
        image: The container image, with its registry.
        least_driver: The major version of NVIDIA's driver that the image's CUDA needs, `525`.
        plan: Where the plan goes.
        manifest: Where the record of the build is written, after the plan.
        failure: Where the reason is written if there is no plan.
        seconds: How long the build may take.
        job: The job that builds it.
    """

    key: str
    model: str
    bucket: str
    onnx: str
    onnx_digest: str
    onnx_size: int
    script: str
    arguments: tuple[str, ...]
    gpu: str
    compute_capability: str
    image: str
    least_driver: str
    plan: str
    manifest: str
    failure: str
    seconds: int
    job: EngineJob

    @classmethod
    def of(cls, text: bytes) -> EngineRequest:
        """The request of a document.

        Raises:
            ValueError, TypeError, KeyError, RecursionError: it is not a request of this version.
        """
        document: dict[str, Any] = json.loads(text)
        arguments, job = tuple(document["arguments"]), EngineJob(**document["job"])
        return cls(**{**document, "arguments": arguments, "job": job})

    def json(self) -> str:
        """The document in the bucket."""
        return json.dumps(asdict(self), indent=2)

    @property
    def hexadecimal(self) -> str:
        """The engine's key without its `sha256:`."""
        return self.key.partition(":")[2]

    @property
    def script_digest(self) -> str:
        """The digest of the script, which is its file's name."""
        return f"sha256:{PurePosixPath(self.script).stem}"
