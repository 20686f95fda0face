"""What a build is told: the JSON document that the publisher leaves in the artifact bucket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Protocol

from .problems import REFUSED, BuildError


class Named(Protocol):
    """Any request: where the reason is written if the build fails."""

    @property
    def failure(self) -> str:
        """The key of failure.json."""


@dataclass(frozen=True)
class Job:
    """The SageMaker job that builds the engine; fleet/engines/request.py says what each field is."""

    kind: str
    instance_type: str
    role: str
    volume_gb: int
    volume_key: str | None
    prefix: str
    tags: dict[str, str]


@dataclass(frozen=True)
class Request:
    """One build; fleet/engines/request.py says what each field is."""

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
    job: Job

    @classmethod
    def of(cls, text: bytes) -> Request:
        """The request of a document.

        Raises:
            BuildError: it is none, or of another version of this script.
        """
        try:
            document: dict[str, Any] = json.loads(text)
            arguments, job = tuple(document["arguments"]), Job(**document["job"])
            return cls(**{**document, "arguments": arguments, "job": job})
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise BuildError(
                REFUSED, f"the script cannot read this request: {error}", remedy="publish again"
            ) from error

    @property
    def hexadecimal(self) -> str:
        """The engine's key without its `sha256:`."""
        return self.key.partition(":")[2]

    @property
    def script_digest(self) -> str:
        """That of the script, which its name says."""
        return f"sha256:{PurePosixPath(self.script).stem}"
