"""A build's source: a zip file in S3, unpacked as CodeBuild's agent does it before the first phase."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from fleet_emulator.product import UnpackingError, budget_of_disk, unpack_zip

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class SourceError(Exception):
    """There is no source, or none that may be unpacked."""


def unpack_source(source: Mapping[str, Any], folder: Path, s3: S3Client) -> None:
    """Unpack a zip file below the folder; a source of type NO_SOURCE is none.

    Raises:
        SourceError: with the reason in one sentence.
    """
    if source["type"] == "NO_SOURCE":
        return
    if source["type"] != "S3":
        raise SourceError(f"a source of type {source['type']} is not supported here")
    bucket, _, key = source.get("location", "").partition("/")
    try:
        content = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        unpack_zip(BytesIO(content), folder, budget_of_disk(folder))
    except ClientError as error:
        raise SourceError(f"{error.response['Error']['Message']} ({source['location']})") from error
    except UnpackingError as error:
        raise SourceError(f"{source['location']} cannot be unpacked: {error}") from error
