"""The request of CloudFormation for the model data of an endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from .engine_request import EngineRequest


@dataclass(frozen=True)
class Place:
    """An object of S3."""

    bucket: str
    key: str

    @classmethod
    def of(cls, text: str) -> Self:
        """The object at `BUCKET/KEY`."""
        bucket, _, key = text.partition("/")
        return cls(bucket, key)


@dataclass(frozen=True, kw_only=True)
class Engine:
    """One engine of the repository.

    Attributes:
        path: Where its plan goes in the repository.
        onnx: The ONNX model among the app's assets.
        request: The request to its build.
        request_key: Where the bucket has the request.
        start: The arguments of StartBuild, without a token.
    """

    path: str
    onnx: Place
    request: EngineRequest
    request_key: str
    start: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The properties of `Custom::ModelAssembly`.

    Attributes:
        bucket: The artifact bucket.
        prefix: Where it has the model data; it ends in a slash, and follows from their content.
        repository: A tar stream of the files of the repository among the app's assets, not compressed.
        script: The build script among the app's assets.
        engines: The engines of the repository.
    """

    bucket: str
    prefix: str
    repository: Place
    script: Place
    engines: tuple[Engine, ...]

    @classmethod
    def of(cls, event: Mapping[str, Any], job_role: str) -> Self:
        """The request of an event; `job_role` is the ARN of the role of jobs that build engines."""
        properties = event["ResourceProperties"]
        return cls(
            bucket=properties["Bucket"],
            prefix=properties["Prefix"],
            repository=Place.of(properties["Repository"]),
            script=Place.of(properties["Script"]),
            engines=tuple(_engine(engine, job_role) for engine in properties["Engines"]),
        )

    @property
    def url(self) -> str:
        """The address of the model data."""
        return f"s3://{self.bucket}/{self.prefix}"

    @property
    def marker(self) -> str:
        """The key of the JSON object `{"path": size}` that is written when all files exist."""
        return f"{self.prefix.removesuffix('/')}.files"


def _engine(properties: Mapping[str, str], job_role: str) -> Engine:
    request = EngineRequest.of(properties["Request"].encode())
    return Engine(
        path=properties["Path"],
        onnx=Place.of(properties["Onnx"]),
        request=replace(request, job=replace(request.job, role=job_role)),
        request_key=properties["RequestKey"],
        start=json.loads(properties["Start"]),
    )
