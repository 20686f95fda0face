"""The artifact bucket of a fleet folder in an embedded AWS, and the requests that S3 was asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.sessions import shared_session
from tests.support.silent_progress import SilentProgress
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.project.project import Project, open_project
from triton_fleet.store.lock import write_locks
from triton_fleet.store.publish.publish import PublishResult, publish
from triton_fleet.store.sources.spec_sources import Connect, no_s3

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient

REGION = "us-east-1"
BUCKET = f"triton-fleet-dev-111122223333-{REGION}"


@dataclass
class ArtifactBucket:
    """The bucket of environment `dev`; `requests` are S3's operations since it was cleared."""

    folder: FleetFolder
    s3: S3Client
    sagemaker: SageMakerClient
    ecr: Any
    requests: list[str] = field(default_factory=list)

    def single(self, name: str = "sentences", *, keys: str = "", code: str = "x = 1\n") -> None:
        """A single-model endpoint of a repository of its own, `keys` with a leading comma."""
        self.folder.write(f"{name}/embed/config.pbtxt", 'backend: "python"\n')
        self.folder.write(f"{name}/embed/1/model.py", code)
        entry = f"archive: {name}, repository: ../{name}{keys}"
        base = SPEC.replace("archive: sentences, repository: ../repository", entry)
        self.folder.spec(base=base.replace("endpoint: sentences", f"endpoint: {name}"), name=name)

    def set_of(self, archives: Mapping[str, str], name: str = "zoo", *, version: int | None = None) -> None:
        """A multi-model endpoint: the code of each archive by its name; with a version, a live set."""
        live = "" if version is None else "archive_set: live\n"
        text = "" if version is None else f", version: {version}"
        lines = [f"endpoint: {name}\nmode: multi-model\n{live}"]
        lines.append('triton: "25.04"\ninstance: {type: ml.g5.xlarge}\nmodels:\n')
        for archive, code in archives.items():
            self.folder.write(f"{name}/{archive}/model/config.pbtxt", 'backend: "python"\n')
            self.folder.write(f"{name}/{archive}/model/1/model.py", code)
            lines.append(f"  - {{archive: {archive}, repository: ../{name}/{archive}{text}}}\n")
        self.folder.write(f"model_specs/{name}.yaml", "".join(lines))

    def lock(self, s3: Connect = no_s3) -> None:
        write_locks(open_project(self.folder.root, "dev"), s3)

    @property
    def project(self) -> Project:
        return open_project(self.folder.root, "dev")

    @property
    def endpoints(self) -> tuple[ResolvedEndpoint, ...]:
        return resolve_project(self.project).endpoints

    def publish(self) -> PublishResult:
        """Publish what the locks say."""
        return publish(self.s3, self.project, self.endpoints, SilentProgress())

    def object_keys(self, prefix: str = "") -> list[str]:
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [content["Key"] for page in pages for content in page.get("Contents", [])]

    def put(self, key: str, body: bytes = b"x") -> str:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=body)
        return key

    def body(self, key: str) -> bytes:
        return self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()


def empty_bucket(url: str, folder: FleetFolder) -> ArtifactBucket:
    """The bucket without objects, an account without models, and a fleet without endpoints."""
    session, config = shared_session(REGION), Config(max_pool_connections=32)
    s3: S3Client = session.client("s3", endpoint_url=url, config=config)
    sagemaker, ecr = (session.client(name, endpoint_url=url) for name in ("sagemaker", "ecr"))
    bucket = ArtifactBucket(folder, s3, sagemaker, ecr)
    s3.create_bucket(Bucket=BUCKET)
    for key in bucket.object_keys():
        s3.delete_object(Bucket=BUCKET, Key=key)
    for page in bucket.sagemaker.get_paginator("list_models").paginate():
        for entry in page["Models"]:
            bucket.sagemaker.delete_model(ModelName=entry["ModelName"])
    for file in (*folder.root.glob("model_specs/*.yaml"), *folder.root.glob("locks/dev/*")):
        file.unlink()

    def note(model: Any, **_: object) -> None:
        bucket.requests.append(model.name)

    s3.meta.events.register("before-call.s3", note)
    return bucket


def digest_of_bytes(stream: bytes) -> str:
    return f"sha256:{hashlib.sha256(stream).hexdigest()}"
