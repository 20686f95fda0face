"""Archives that endpoints need in the bucket, and those that it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.bucket_keys import ARCHIVES
from triton_fleet.endpoint.resolved_endpoint import Artifact, ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.endpoint import Compression
from triton_fleet.store.content_store import (
    digest_of,
    files_marker,
    list_objects,
    missing_files,
    store_key,
    stored_files,
)

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MAX_PARALLEL_REQUESTS = 16
"""Parallel listings, requests for objects, and copies: they wait for S3, not for this machine."""


@dataclass(frozen=True)
class ArchiveRequirement:
    """An archive at the key from which its endpoint's Model loads it."""

    endpoint: ResolvedEndpoint
    artifact: Artifact

    @property
    def name(self) -> str:
        """Endpoint and archive, for progress and findings."""
        return f"{self.endpoint.name}/{self.artifact.archive}"

    def conflict(self) -> FindingsError:
        """The finding if its key in a live set has other content."""
        url = f"s3://{self.endpoint.deployment.bucket}/{self.artifact.key}"
        message = f"{url} has other content: a published archive is never overwritten"
        hint = f"raise the `version` of archive {self.artifact.archive!r}"
        return FindingsError([Finding(code="FL304", message=message, hint=hint)])


@dataclass(frozen=True)
class Content:
    """One content that the store must have, and all archives that need it."""

    digest: str
    compression: Compression
    requirements: tuple[ArchiveRequirement, ...]

    @property
    def key(self) -> str:
        """The object that shows that the store has the content: the archive, or the marker of its files."""
        return store_key(self.digest) if self.compression is Compression.GZIP else files_marker(self.digest)

    @property
    def size(self) -> int:
        """Bytes of the tar stream."""
        return self.requirements[0].artifact.size


def contents_of(requirements: Sequence[ArchiveRequirement]) -> list[Content]:
    """The contents of these archives, each once."""
    by_content: dict[tuple[str, Compression], list[ArchiveRequirement]] = {}
    for requirement in requirements:
        by_content.setdefault((requirement.artifact.digest, requirement.artifact.compression), []).append(
            requirement
        )
    return [Content(*content, tuple(shared_by)) for content, shared_by in by_content.items()]


def missing_in_store(s3: S3Client, bucket: str, contents: Sequence[Content]) -> list[Content]:
    """The contents that have to be uploaded."""
    if not contents:
        return []
    stored_objects = list_objects(s3, bucket, ARCHIVES, below=False)
    return [content for content in contents if content.key not in stored_objects]


def missing_in_endpoints(
    s3: S3Client, bucket: str, endpoints: Sequence[ResolvedEndpoint]
) -> tuple[list[ArchiveRequirement], list[Finding]]:
    """The archives missing at their endpoints' keys, and findings for names taken by other contents."""
    absences = all_in_parallel(
        endpoints, lambda requirement: _missing_archives(s3, bucket, requirement), MAX_PARALLEL_REQUESTS
    )
    comparable = [requirement for _, present in absences for requirement in present]
    conflicts = all_in_parallel(
        comparable, lambda requirement: is_taken(s3, bucket, requirement), MAX_PARALLEL_REQUESTS
    )
    findings = [
        finding
        for requirement, is_conflict in zip(comparable, conflicts, strict=True)
        if is_conflict
        for finding in requirement.conflict().findings
    ]
    return [requirement for absent, _ in absences for requirement in absent], findings


def is_taken(s3: S3Client, bucket: str, requirement: ArchiveRequirement) -> bool:
    """Whether the object at the archive's key has, or may have, other content."""
    return digest_of(s3, bucket, requirement.artifact.key) != requirement.artifact.digest


def _missing_archives(
    s3: S3Client, bucket: str, endpoint: ResolvedEndpoint
) -> tuple[list[ArchiveRequirement], list[ArchiveRequirement]]:
    """The missing archives, and the existing ones whose name does not depend on their content."""
    requirements = [ArchiveRequirement(endpoint, artifact) for artifact in endpoint.archives]
    if endpoint.compression is Compression.NONE:
        (only_artifact,) = endpoint.archives
        files = stored_files(s3, bucket, only_artifact.digest)
        complete = files is not None and not missing_files(s3, bucket, only_artifact.key, files)
        return ([] if complete else requirements), []
    stored_objects = list_objects(s3, bucket, endpoint.model_data)
    absent = [requirement for requirement in requirements if requirement.artifact.key not in stored_objects]
    return absent, [
        requirement
        for requirement in requirements
        if requirement.artifact.key in stored_objects and not requirement.artifact.named_by_content
    ]
