"""A model repository in a folder with the TensorRT plans that were built for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING

from triton_fleet.builds.engines.artifacts import MANIFEST, built_key, packed_name
from triton_fleet.core.tar_writer import Sink, write_end
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.repository.entry_path import packing_key
from triton_fleet.repository.plan import plan_place
from triton_fleet.store.archive import Checksums, DigestWriter, Entry, EntrySource, write_entry
from triton_fleet.store.archive_requirements import ArchiveRequirement
from triton_fleet.store.content_store import contents_key
from triton_fleet.store.engines.request import StoredPlan, engines_in
from triton_fleet.store.sources.spec_sources import SpecRepositories, folder_source
from triton_fleet.store.upload.object import ContentChangedError, ObjectPlace
from triton_fleet.store.upload.stream import SourceObject

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

ROOM = 4096
"""The most bytes of the headers of a plan and its folder, with the padding of its last block."""


@dataclass(frozen=True, kw_only=True)
class BuiltPlan:
    """A plan of so many bytes; `chunks` yields them."""

    size: int
    chunks: Callable[[], Iterator[bytes]]


class BuiltSource:
    """A repository with plans by their paths in it.

    `repository` is the digest of its tar stream without them.
    """

    def __init__(self, source: EntrySource, plans: Mapping[str, BuiltPlan], repository: str) -> None:
        self._source, self._plans, self._repository = source, plans, repository

    @staticmethod
    def max_size(size: int, plans: Mapping[str, BuiltPlan]) -> int:
        """The most bytes of the tar stream, if it has `size` without the plans."""
        return size + sum(plan.size + ROOM for plan in plans.values()) + ROOM * 3

    def write(self, sink: Sink) -> Checksums:
        """Write the tar stream; the repository is read once for it and for its own digest.

        Raises:
            ContentChangedError: without the plans it differs from the expected content.
            FindingsError: a file is at a plan's path, or an entry cannot be packed.
        """
        own, checksums = DigestWriter(), Checksums()
        size, tee = 0, _Tee(own, sink)
        for entry, is_own in self._tagged_entries():
            size += write_entry(entry, tee if is_own else sink, checksums)
        own_size = own.size
        write_end(own_size, own)
        write_end(size, sink)
        if own.digest != self._repository:
            raise ContentChangedError(own.digest)
        return checksums

    def entries(self) -> Iterator[Entry]:
        """The entries of the tar stream, in their order; the repository's own digest is not checked.

        Raises:
            FindingsError: as for `write`.
        """
        return (entry for entry, _ in self._tagged_entries())

    def _tagged_entries(self) -> Iterator[tuple[Entry, bool]]:
        """Own entries and the plans, in order, and whether each is an own one."""
        own = ((entry, True) for entry in self._source.entries())
        plans = ((entry, False) for entry in self._plan_entries())
        paths = set[str]()
        for entry, is_own in merge(own, plans, key=_place):  # for one path the own entry comes first
            if entry.path in paths:
                if entry.chunks is None and not is_own:
                    continue
                message = f"{entry.path!r} already exists, but an engine is built for it"
                hint = "delete the file, or leave the engine out"
                raise FindingsError([Finding(code="FL372", message=message, hint=hint)])
            paths.add(entry.path)
            yield entry, is_own

    def _plan_entries(self) -> list[Entry]:
        plans = [Entry(path, plan.size, plan.chunks) for path, plan in self._plans.items()]
        folders = [Entry(path.rpartition("/")[0]) for path in self._plans]
        return sorted([*folders, *plans], key=lambda entry: _place((entry, False)))


class _Tee:
    def __init__(self, first: Sink, second: Sink) -> None:
        self._first, self._second = first, second

    def write(self, data: bytes) -> None:
        self._first.write(data)
        self._second.write(data)


def _place(entry: tuple[Entry, bool]) -> tuple[tuple[bool, str], ...]:
    return packing_key(entry[0].path, is_folder=entry[0].chunks is None)


class BuiltArchive:
    """An archive that gets engines; their plans are in the bucket."""

    def __init__(
        self,
        s3: S3Client,
        repositories: SpecRepositories,
        requirement: ArchiveRequirement,
        plans: Mapping[str, StoredPlan],
        repository: str,
    ) -> None:
        self._s3, self._bucket, self._requirement = s3, requirement.endpoint.deployment.bucket, requirement
        self._repositories, self._stored_plans, self._repository = repositories, plans, repository
        self._plans = self._plans_by_path()
        self._tar = ""

    @property
    def size(self) -> int:
        """The most bytes that the tar stream can have."""
        return BuiltSource.max_size(self._requirement.artifact.size, self._plans)

    @property
    def source(self) -> BuiltSource:
        """The source of the archive."""
        return BuiltSource(
            folder_source(self._repositories, self._requirement.artifact.source),
            self._plans,
            self._repository,
        )

    def check(self, digest: str) -> None:
        """Keep the digest of the resulting tar stream: the archive's name is the digest of its inputs."""
        self._tar = digest

    def write_contents(self) -> None:
        """Record beside the archive what it contains: the digest of its tar stream, and its plans."""
        engines = engines_in(self._requirement)
        copy = self._requirement.artifact.source.copy
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
        key = contents_key(self._requirement.artifact.digest)
        self._s3.put_object(Bucket=self._bucket, Key=key, Body=json.dumps(document, indent=1).encode())

    def _plans_by_path(self) -> dict[str, BuiltPlan]:
        source = self._requirement.artifact.source
        contents, plans = self._repositories.contents(source.index), dict[str, BuiltPlan]()
        for engine in engines_in(self._requirement):
            place = plan_place(contents, engine.model, engine.build.compute_capability)
            path = f"{packed_name(engine.model, source.copy)}/{place}"
            plans[path] = self._plan(self._stored_plans[engine.build.key])
        return plans

    def _plan(self, plan: StoredPlan) -> BuiltPlan:
        place = ObjectPlace(self._bucket, plan.key)
        source_object = SourceObject(s3=self._s3, place=place, size=plan.size, etag=plan.etag, crc=None)
        return BuiltPlan(size=plan.size, chunks=source_object.chunks)

    def _manifest(self, key: str) -> dict[str, object]:
        answer = self._s3.get_object(Bucket=self._bucket, Key=built_key(key, MANIFEST))
        manifest: dict[str, object] = json.loads(answer["Body"].read())
        return manifest
