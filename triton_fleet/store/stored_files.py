"""Archives that are stored as separate files: what the store has of one, and what a prefix lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from triton_fleet.store.content_store import files_marker, list_objects

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

FILES = TypeAdapter(dict[str, int])


def stored_files(s3: S3Client, bucket: str, digest: str) -> dict[str, int] | None:
    """The files of a tar stream and their sizes in bytes, by path; None if the store lacks it."""
    try:
        marker = s3.get_object(Bucket=bucket, Key=files_marker(digest))
    except s3.exceptions.NoSuchKey:
        return None
    return FILES.validate_json(marker["Body"].read())


def missing_files(s3: S3Client, bucket: str, prefix: str, files: dict[str, int]) -> list[str]:
    """The paths that the prefix lacks or has with another size."""
    there = list_objects(s3, bucket, prefix)
    return [
        path
        for path, size in files.items()
        if (found := there.get(f"{prefix}{path}")) is None or found.size != size
    ]
