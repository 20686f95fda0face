"""Copies contents on the server from the store to the prefixes of the endpoints' Models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import CannotRunError, Finding
from triton_fleet.spec.endpoint import Compression
from triton_fleet.store.archive_requirements import REQUESTS_AT_ONCE, ArchiveRequirement, Content, is_taken
from triton_fleet.store.content_store import copy_object, files_prefix
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.stored_files import missing_files, stored_files

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True)
class Copy:
    """One object to be copied, of at most `size` bytes; None if unknown."""

    source: str
    target: str
    size: int | None
    wanted: ArchiveRequirement


def copy_to_endpoints(
    s3: S3Client, bucket: str, contents: Sequence[Content], progress: PublishProgress
) -> list[Finding]:
    """Copy each content to all archives that need it; return findings for names taken meanwhile."""
    copies = [copy for content in contents for copy in _copies(s3, bucket, content)]
    if not copies:
        return []
    with progress.copies(len(copies)) as advance:

        def taken(copy: Copy) -> bool:
            artifact = copy.wanted.artifact
            copied = copy_object(
                s3,
                bucket,
                copy.source,
                bucket,
                copy.target,
                artifact.digest,
                overwrite=artifact.named_by_content,
                size=copy.size,
            )
            advance(1)
            return not copied and is_taken(s3, bucket, copy.wanted)

        outcomes = all_in_parallel(copies, taken, REQUESTS_AT_ONCE)
    return [
        finding
        for copy, other in zip(copies, outcomes, strict=True)
        if other
        for finding in copy.wanted.conflict().findings
    ]


def _copies(s3: S3Client, bucket: str, content: Content) -> Iterator[Copy]:
    if content.compression is Compression.GZIP:
        for wanted in content.wanted:
            size = content.size if wanted.artifact.repository is None else None  # plus its plans
            yield Copy(content.key, wanted.artifact.key, size, wanted)
        return
    files, store = stored_files(s3, bucket, content.digest), files_prefix(content.digest)
    if files is None:
        raise CannotRunError(f"s3://{bucket}/{content.key} was removed meanwhile", "publish again")
    for wanted in content.wanted:
        target = wanted.artifact.key
        for path in missing_files(s3, bucket, target, files):
            yield Copy(f"{store}{path}", f"{target}{path}", files[path], wanted)
