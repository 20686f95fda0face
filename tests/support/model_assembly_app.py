"""The custom resource of an app's model data with one engine, as CloudFormation calls its functions."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from model_assembly.handler import handler, is_complete
from tests.support.artifact_bucket import BUCKET
from tests.support.codebuild_stand_in import StandInCodeBuild
from tests.support.embedded_app.clients import client
from tests.support.engine_builds import JOB, ONNX, EngineStore
from tests.support.running_aws import running_aws
from triton_fleet.builds.engines.artifacts import REQUEST, built_key
from triton_fleet.builds.engines.request import EngineRequest
from triton_fleet.builds.start import BuildStart
from triton_fleet.store.archive import Entry, write_tar

ASSETS = "assets"
ROLE = "arn:aws:iam::123456789012:role/jobs"
CONFIG = b'platform: "tensorrt_plan"\n'
ENVIRON = {"SECONDS": "2880", "PROJECT": "engines", "JOB_ROLE": ROLE}
_numbers = itertools.count()


@contextmanager
def assembly_s3() -> Iterator[Any]:
    """A client of an embedded S3 with the artifact bucket and the bucket of assets."""
    with running_aws() as aws:
        s3 = client(aws, "s3")
        for name in (BUCKET, ASSETS):
            s3.create_bucket(Bucket=name)
        yield s3


@dataclass
class Look:
    """The context of a call, with the milliseconds that it has."""

    milliseconds: int = 600_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


@dataclass
class App:
    """An app with one engine: its assets, and the custom resource of its model data."""

    s3: Any
    codebuild: StandInCodeBuild
    files: dict[str, bytes] = field(default_factory=lambda: {"bert/config.pbtxt": CONFIG, "bert/notes": b""})
    number: int = field(default_factory=lambda: next(_numbers))
    times: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        store = EngineStore(self.s3, "", Path())
        store.numbers = itertools.count(1000 + self.number)
        onnx = ONNX + str(self.number).encode()
        job = replace(JOB, role="")
        store.put = lambda key, body: None  # type: ignore[method-assign]
        digest = f"sha256:{hashlib.sha256(onnx).hexdigest()}"
        self.request: EngineRequest = replace(
            store.request(onnx=onnx, job=job), bucket=BUCKET, onnx_digest=digest
        )
        self.put("model.onnx", onnx)
        self.put("script.zip", b"script")
        stream = io.BytesIO()
        write_tar([_entry(path, body) for path, body in self.files.items()], stream)
        self.put("repository.tar", stream.getvalue())

    def put(self, name: str, body: bytes) -> None:
        self.s3.put_object(Bucket=ASSETS, Key=f"{self.number}/{name}", Body=body)

    @property
    def prefix(self) -> str:
        return f"repositories/{self.number}/"

    @property
    def address(self) -> str:
        return f"s3://{BUCKET}/{built_key(self.request.key, REQUEST)}"

    def event(self, kind: str) -> dict[str, Any]:
        start = BuildStart(
            project="engines",
            script=f"{BUCKET}/{self.request.script}",
            buildspec="version: 0.2",
            variables={"FLEET_ENGINE_REQUEST": self.address},
            foundation="",
        )
        engine = {
            "Path": "bert/1/model.plan",
            "Onnx": f"{ASSETS}/{self.number}/model.onnx",
            "RequestKey": built_key(self.request.key, REQUEST),
            "Request": self.request.json(),
            "Start": json.dumps(start.request),
        }
        event: dict[str, Any] = {
            "RequestType": kind,
            "StackId": "arn:aws:cloudformation:us-east-1:123456789012:stack/host/1",
            "LogicalResourceId": "Assembly",
            "ResourceProperties": {
                "Bucket": BUCKET,
                "Prefix": self.prefix,
                "Repository": f"{ASSETS}/{self.number}/repository.tar",
                "Script": f"{ASSETS}/{self.number}/script.zip",
                "Engines": [engine],
            },
        }
        return event if kind == "Create" else {**event, "PhysicalResourceId": "host/1/Assembly"}

    def client(self, service: str) -> Any:
        return {"s3": self.s3, "codebuild": self.codebuild}[service]

    def begin(self, kind: str = "Create") -> dict[str, Any]:
        event = self.event(kind)
        return {**event, **handler(event, None, self.client, ENVIRON), **self.times}

    def look(self, event: dict[str, Any], milliseconds: int = 600_000) -> dict[str, Any]:
        return is_complete(event, Look(milliseconds), self.client, ENVIRON)

    def deploy(self, kind: str = "Create") -> dict[str, Any]:
        """All looks of a deploy, to its end."""
        event = self.begin(kind)
        for _ in range(10):
            answer = self.look(event)
            if answer["IsComplete"]:
                data: dict[str, Any] = answer["Data"]
                return data
        raise AssertionError("it waits for ever")

    def model_data(self) -> dict[str, bytes]:
        objects = self.s3.list_objects_v2(Bucket=BUCKET, Prefix=self.prefix).get("Contents", ())
        keys = [entry["Key"] for entry in objects]
        return {key.removeprefix(self.prefix): self.body(key) for key in keys}

    def body(self, key: str) -> bytes:
        content: bytes = self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return content


def _entry(path: str, body: bytes) -> Entry:
    return Entry(path, len(body), lambda: iter((body,)))
