"""Archives with engines: packed from their repository and the plans, with a record of their content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from triton_fleet.builds.engines.lock import packed_name
from triton_fleet.builds.engines.object_keys import MANIFEST, built_key
from triton_fleet.repository.plan_path import plan_place
from triton_fleet.store.archive_requirements import ArchiveRequirement
from triton_fleet.store.content_store import contents_key
from triton_fleet.store.engines.request import StoredPlan, engines_in
from triton_fleet.store.sources.engine_folder import BuiltPlan, BuiltSource
from triton_fleet.store.sources.spec_sources import SpecRepositories, folder_source
from triton_fleet.store.upload.object import ObjectPlace
from triton_fleet.store.upload.stream import SourceObject

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class BuiltArchive:
    """An archive that gets engines; their plans are in the bucket."""

    def __init__(
        self,
        s3: S3Client,
        repositories: SpecRepositories,
        wanted: ArchiveRequirement,
        plans: Mapping[str, StoredPlan],
        repository: str,
    ) -> None:
        self._s3, self._bucket, self._wanted = s3, wanted.endpoint.deployment.bucket, wanted
        self._repositories, self._stored, self._repository = repositories, plans, repository
        self._plans = self._plans_by_path()
        self._tar = ""

    @property
    def size(self) -> int:
        """The most bytes that the tar stream can have."""
        return BuiltSource.max_size(self._wanted.artifact.size, self._plans)

    @property
    def source(self) -> BuiltSource:
        """The source of the archive."""
        return BuiltSource(
            folder_source(self._repositories, self._wanted.artifact.source), self._plans, self._repository
        )

    def check(self, found: str) -> None:
        """Keep the digest of the resulting tar stream: the archive's name is the digest of its inputs."""
        self._tar = found

    def write_contents(self) -> None:
        """Record beside the archive what it contains: the digest of its tar stream, and its plans."""
        engines = engines_in(self._wanted)
        copy = self._wanted.artifact.source.copy
        document = {
            "tar": self._tar,
            "engines": {
                packed_name(engine.model, copy): {
                    "key": engine.build.key,
                    "plan": self._manifest(engine.build.key)["plan"],
                }
                for engine in engines
            },
        }
        key = contents_key(self._wanted.artifact.digest)
        self._s3.put_object(Bucket=self._bucket, Key=key, Body=json.dumps(document, indent=1).encode())

    def _plans_by_path(self) -> dict[str, BuiltPlan]:
        packed = self._wanted.artifact.source
        contents, placed = self._repositories.contents(packed.index), dict[str, BuiltPlan]()
        for engine in engines_in(self._wanted):
            place = plan_place(contents, engine.model, engine.build.compute_capability)
            path = f"{packed_name(engine.model, packed.copy)}/{place}"
            placed[path] = self._plan(self._stored[engine.build.key])
        return placed

    def _plan(self, stored: StoredPlan) -> BuiltPlan:
        place = ObjectPlace(self._bucket, stored.key)
        held = SourceObject(s3=self._s3, place=place, size=stored.size, etag=stored.etag, crc=None)
        return BuiltPlan(size=stored.size, chunks=held.chunks)

    def _manifest(self, key: str) -> dict[str, object]:
        found = self._s3.get_object(Bucket=self._bucket, Key=built_key(key, MANIFEST))
        manifest: dict[str, object] = json.loads(found["Body"].read())
        return manifest
