"""A build's source: a zip file in S3, unpacked as CodeBuild's agent does it before the first phase."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from botocore.exceptions import ClientError

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
        raise SourceError(f"a source of type {source['type']} is not fetched here")
    bucket, _, key = source.get("location", "").partition("/")
    try:
        content = s3.get_object(Bucket=bucket, Key=key)["Body"].read()
        with ZipFile(BytesIO(content)) as archive:
            for name in archive.namelist():
                path = PurePosixPath(name.replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts:
                    raise SourceError(f"{source['location']} has a path that leads out of it: {name!r}")
            archive.extractall(folder)
    except ClientError as error:
        raise SourceError(f"{error.response['Error']['Message']} ({source['location']})") from error
    except BadZipFile as error:
        raise SourceError(f"{source['location']} is no zip file: {error}") from error
