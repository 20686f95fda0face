"""What endpoints need in the bucket, and what the bucket lacks of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.object_keys import ARCHIVES
from triton_fleet.endpoint.resolved_endpoint import Artifact, ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.endpoint import Compression
from triton_fleet.store.content_store import digest_of, files_marker, list_objects, store_key
from triton_fleet.store.stored_files import missing_files, stored_files

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

REQUESTS_AT_ONCE = 16
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
    wanted: tuple[ArchiveRequirement, ...]

    @property
    def key(self) -> str:
        """The object that shows that the store has the content: the archive, or the marker of its files."""
        return store_key(self.digest) if self.compression is Compression.GZIP else files_marker(self.digest)

    @property
    def size(self) -> int:
        """Bytes of the tar stream."""
        return self.wanted[0].artifact.size


def contents_of(wanted: Sequence[ArchiveRequirement]) -> list[Content]:
    """The contents of these archives, each once."""
    by_content: dict[tuple[str, Compression], list[ArchiveRequirement]] = {}
    for each in wanted:
        by_content.setdefault((each.artifact.digest, each.artifact.compression), []).append(each)
    return [Content(*content, tuple(found)) for content, found in by_content.items()]


def missing_in_store(s3: S3Client, bucket: str, contents: Sequence[Content]) -> list[Content]:
    """The contents that have to be uploaded."""
    if not contents:
        return []
    there = list_objects(s3, bucket, ARCHIVES, below=False)
    return [content for content in contents if content.key not in there]


def missing_in_endpoints(
    s3: S3Client, bucket: str, endpoints: Sequence[ResolvedEndpoint]
) -> tuple[list[ArchiveRequirement], list[Finding]]:
    """The archives missing at their endpoints' keys, and findings for names taken by other contents."""
    found = all_in_parallel(endpoints, lambda each: _missing_archives(s3, bucket, each), REQUESTS_AT_ONCE)
    compared = [each for _, there in found for each in there]
    taken = all_in_parallel(compared, lambda each: is_taken(s3, bucket, each), REQUESTS_AT_ONCE)
    findings = [
        finding
        for each, other in zip(compared, taken, strict=True)
        if other
        for finding in each.conflict().findings
    ]
    return [each for missing, _ in found for each in missing], findings


def is_taken(s3: S3Client, bucket: str, wanted: ArchiveRequirement) -> bool:
    """Whether the object at the archive's key has, or may have, other content."""
    return digest_of(s3, bucket, wanted.artifact.key) != wanted.artifact.digest


def _missing_archives(
    s3: S3Client, bucket: str, endpoint: ResolvedEndpoint
) -> tuple[list[ArchiveRequirement], list[ArchiveRequirement]]:
    """The missing archives, and the existing ones whose name does not depend on their content."""
    wanted = [ArchiveRequirement(endpoint, artifact) for artifact in endpoint.archives]
    if endpoint.compression is Compression.NONE:
        (only,) = endpoint.archives
        files = stored_files(s3, bucket, only.digest)
        complete = files is not None and not missing_files(s3, bucket, only.key, files)
        return ([] if complete else wanted), []
    there = list_objects(s3, bucket, endpoint.model_data)
    missing = [each for each in wanted if each.artifact.key not in there]
    return missing, [
        each for each in wanted if each.artifact.key in there and not each.artifact.named_by_content
    ]
