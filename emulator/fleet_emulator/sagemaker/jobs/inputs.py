"""A job's inputs, copied from S3 into the folder that stands for its container's /opt/ml."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from moto.s3.utils import bucket_and_name_from_url

from fleet_emulator.sagemaker.jobs.request import JobInput

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


class InputError(Exception):
    """An input cannot be had; the words begin as SageMaker's do."""


def local_path(path: str, root: Path) -> str:
    """A path of the container as it is on this machine; other text as it is."""
    return f"{root}{path}" if path == "/opt/ml" or path.startswith("/opt/ml/") else path


def copy_input(wanted: JobInput, root: Path, s3: S3Client) -> None:
    """Copy all objects below a prefix.

    Raises:
        InputError: there are none, or one has a key that leads out of its folder.
    """
    bucket, prefix = bucket_and_name_from_url(wanted.uri)
    folder = Path(local_path(wanted.folder, root))
    found = 0
    try:
        for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket or "", Prefix=prefix or ""):
            for each in page.get("Contents", ()):
                found += 1
                file = folder / _name(each["Key"], prefix or "")
                if not file.resolve().is_relative_to(folder.resolve()):
                    raise InputError(f"ClientError: {each['Key']} leads out of {wanted.folder}")
                file.parent.mkdir(parents=True, exist_ok=True)
                s3.download_file(bucket or "", each["Key"], str(file))
    except ClientError as error:
        raise InputError(f"ClientError: Data download failed: {error}") from error
    if not found:
        raise InputError(f"ClientError: Data download failed: No S3 objects found under S3 URL {wanted.uri}")


def _name(key: str, prefix: str) -> str:
    """An object keeps its own name, and what is below a folder its path in it."""
    below = key.removeprefix(prefix)
    return (
        below.lstrip("/") if below and (prefix.endswith("/") or below[0] == "/") else key.rpartition("/")[2]
    )
