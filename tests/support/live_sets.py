"""A locked live set, and archives to add to it."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.silent_progress import SilentProgress
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.store.live.addition import Addition, add_archive
from triton_fleet.store.live.live_set import LiveSet, live_set, targets_of
from triton_fleet.store.publish.publish import publish
from triton_fleet.store.sources.folder import FolderSource

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

LIVE = """\
endpoint: sentences
mode: multi-model
archive_set: live
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: sentences, version: 1, repository: ../repository}
"""


@dataclass(frozen=True)
class Live:
    """A locked live set whose bucket is there, empty and versioned, and an archive besides."""

    folder: FleetFolder
    s3: S3Client

    @property
    def set(self) -> LiveSet:
        return live_set(open_project(self.folder.root, "dev"), "sentences")

    def repository(self, text: str) -> Path:
        """A model repository with that content."""
        folder = self.folder.root / f"other-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
        if not folder.exists():
            self.folder.write(f"{folder.name}/other/config.pbtxt", 'backend: "python"\n')
            self.folder.write(f"{folder.name}/other/1/model.py", text)
        return folder

    def source(self, text: str) -> FolderSource:
        """The same, as it would be served."""
        return FolderSource.of(self.repository(text), ServingContainer(multi_model=True))

    def add(self, text: str = "x = 2\n", archive: str = "other", version: int | None = None) -> Addition:
        return add_archive(self.s3, self.set, archive, version, self.source(text))

    def refusal(self, **options: Any) -> str:
        """The reason why an addition is refused."""
        before = self.targets()
        with pytest.raises(FindingsError) as refusal:
            self.add(**options)
        assert self.targets() == before
        (finding,) = refusal.value.findings
        return f"{finding.code} {finding.message} | {finding.hint}"

    def publish(self) -> None:
        project = open_project(self.folder.root, "dev")
        publish(self.s3, project, resolve_project(project).endpoints, SilentProgress())

    def remove(self, target: str) -> None:
        self.s3.delete_object(Bucket=self.set.deployment.bucket, Key=self.set.key(target))

    def targets(self) -> list[str]:
        return [target.name for target in targets_of(self.s3, self.set) if target.size is not None]

    def body(self, target: str) -> bytes:
        """The tar stream of a target."""
        result = self.s3.get_object(Bucket=self.set.deployment.bucket, Key=self.set.key(target))
        return gzip.decompress(result["Body"].read())
