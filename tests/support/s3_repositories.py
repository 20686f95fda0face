"""A bucket of model repositories, and a fleet whose one spec names what lies there."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Self

import pytest

from tests.support.artifact_bucket import REGION
from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.lock import write_locks
from triton_fleet.store.sources.folder import FolderSource

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

BUCKET = "model-repositories"
FILES = {
    "NOTES": b"n",
    "embed/config.pbtxt": b'backend: "python"\n',
    "embed/1/model.py": b"x = 1\n",
    "embed/1/vocab/a": b"a" * 3000,
    "embed-it/1/model.onnx": b"weights",
}


def repositories_client(url: str) -> S3Client:
    """A client of the S3 at that URL, which has the bucket."""
    s3: S3Client = local_session(REGION, KEYS).client("s3", endpoint_url=url)
    s3.create_bucket(Bucket=BUCKET)
    return s3


class Repositories:
    """A bucket, and the fleet whose one spec names what lies there; `reads` counts requests for objects."""

    def __init__(self, s3: S3Client, folder: FleetFolder) -> None:
        self.s3, self.folder, self.reads = s3, folder, 0
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
            for content in page.get("Contents", []):
                s3.delete_object(Bucket=BUCKET, Key=content["Key"])

    def __enter__(self) -> Self:
        self.s3.meta.events.register("before-call.s3.GetObject", self._count, unique_id="count")
        return self

    def __exit__(self, *_: object) -> None:
        self.s3.meta.events.unregister("before-call.s3.GetObject", unique_id="count")

    def _count(self, **_: object) -> None:
        self.reads += 1

    def put(self, key: str, content: bytes) -> None:
        self.s3.put_object(Bucket=BUCKET, Key=key, Body=content)

    def prefix(self, files: dict[str, bytes] = FILES) -> None:
        for path, content in files.items():
            self.put(f"team/{path}", content)

    def archive(self, stream: bytes) -> None:
        self.put("team/embed.tar.gz", gzip.compress(stream, mtime=0))

    def spec(self, url: str, digest: str | None = None) -> None:
        text = "" if digest is None else f', digest: "{digest}"'
        self.folder.spec(base=SPEC.replace("../repository", f'"s3://{BUCKET}/{url}"{text}'))

    def lock(self, s3: Callable[[], S3Client] | None = None) -> list[Path]:
        return write_locks(open_project(self.folder.root, "dev"), s3 or (lambda: self.s3))

    def refusal(self) -> Finding:
        """The one finding, at the repository's line."""
        with pytest.raises(FindingsError) as caught:
            self.lock()
        (finding,) = caught.value.findings
        assert (finding.file, finding.line) == (self.folder.root / "model_specs/sentences.yaml", 5)
        return finding


def on_disk(files: dict[str, bytes], root: Path) -> Path:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return root


def pack_files(files: dict[str, bytes]) -> bytes:
    """The tar stream of a folder of these files."""
    stream = io.BytesIO()
    with TemporaryDirectory() as root:
        FolderSource.of(on_disk(files, Path(root))).write(stream)
    return stream.getvalue()


def digest(stream: bytes) -> str:
    writer = DigestWriter()
    writer.write(stream)
    return writer.digest
