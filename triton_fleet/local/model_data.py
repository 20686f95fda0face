"""A deployed model's data: an archive, unpacked as untrusted input, or the objects below a prefix."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from fleet_emulator.hosting import HostingError
from triton_fleet.repository.unpacking import (
    TooLargeError,
    UnpackingBudget,
    UnpackingError,
    budget_of_disk,
    unpack_tar,
)

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


def fetch_model_data(s3: S3Client, url: str, folder: Path) -> Path:
    """Download an archive and unpack it below `folder`; the folder of the unpacked model repository.

    Raises:
        HostingError: it does not exist, is not a .tar.gz, takes more than half of the free disk, or holds
            anything but folders and files below its root.
        OSError: the disk is full.
    """
    archive, budget = folder / "model.tar.gz", budget_of_disk(folder)
    try:
        download(s3, url, archive, budget)
        return unpack(archive, folder / "model", url, budget)
    except TooLargeError as error:
        raise HostingError(str(error)) from error
    finally:
        archive.unlink(missing_ok=True)


def download(s3: S3Client, url: str, archive: Path, budget: UnpackingBudget) -> None:
    """Download one object.

    Raises:
        HostingError: it does not exist.
        TooLargeError: it has more bytes than the budget; nothing was written.
        OSError: the disk is full.
    """
    bucket, _, key = url.removeprefix("s3://").partition("/")
    try:
        budget.require(s3.head_object(Bucket=bucket, Key=key)["ContentLength"])
        s3.download_file(bucket, key, str(archive))
    except TooLargeError as error:
        raise TooLargeError(f"Could not download model data at {url}: {error}", error.size) from error
    except ClientError as error:
        raise HostingError(f"Could not download model data at {url}: {error}") from error


def unpack(archive: Path, folder: Path, url: str, budget: UnpackingBudget) -> Path:
    """Unpack a .tar.gz into `folder`, which need not exist; the folder.

    Raises:
        HostingError: it is not a .tar.gz, or holds anything but folders and files below its root.
        TooLargeError: it holds more than the budget; nothing was written.
        OSError: the disk is full.
    """
    try:
        unpack_tar(archive, folder, budget)
    except TooLargeError as error:
        raise TooLargeError(f"Could not unpack model data at {url}: {error}", error.size) from error
    except (UnpackingError, OSError) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        raise HostingError(f"Could not unpack model data at {url}: {error}") from error
    return folder


BLOCK = 1 << 20
MAX_NAME = 255
"""Bytes of the name of a file or folder."""


def fetch_model_files(s3: S3Client, url: str, folder: Path) -> Path:
    """Download all objects below an s3:// URL that ends in a slash; the folder of the model repository.

    Raises:
        HostingError: there are none, they take more than half of the free disk, or a key cannot be a file of
            its own below the folder.
        OSError: the disk is full.
    """
    bucket, _, prefix = url.removeprefix("s3://").partition("/")
    try:
        pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        sizes = {entry["Key"]: entry["Size"] for page in pages for entry in page.get("Contents", [])}
    except ClientError as error:
        raise HostingError(f"Could not list model data at {url}: {error}") from error
    if not sizes:
        raise HostingError(f"Could not find model data at {url}.")
    try:
        budget_of_disk(folder).require(sum(sizes.values()), len(sizes))
    except TooLargeError as error:
        raise HostingError(f"Could not download model data at {url}: {error}") from error
    paths = {key: _path(key, key.removeprefix(prefix)) for key in sizes}
    _refuse_clashes(paths.values(), url)
    model = folder / "model"
    for key, path in paths.items():
        (model / path).parent.mkdir(parents=True, exist_ok=True)
        _download(s3, bucket, key, model / path)
    return model


def _download(s3: S3Client, bucket: str, key: str, file: Path) -> None:
    # Not download_file: it writes under a longer name first, so it cannot take the longest one.
    try:
        body = s3.get_object(Bucket=bucket, Key=key)["Body"]
        with file.open("wb") as output:
            for block in body.iter_chunks(BLOCK):
                output.write(block)
    except (BotoCoreError, ClientError) as error:
        raise HostingError(f"Could not download model data at s3://{bucket}/{key}: {error}") from error


def _path(key: str, below: str) -> PurePosixPath:
    names = below.split("/")
    for name in names:
        if not name.strip() or name in (".", "..") or "\0" in name or len(name.encode()) > MAX_NAME:
            raise HostingError(
                f"the key {key!r} cannot be a file of a model: {name!r} is not a name of a file or folder"
            )
    return PurePosixPath(*names)


def _refuse_clashes(paths: Iterable[PurePosixPath], url: str) -> None:
    files = set(paths)
    clashes = sorted(str(parent) for file in files for parent in file.parents if parent in files)
    if clashes:
        raise HostingError(f"model data at {url} has {clashes[0]!r} both as a file and as a folder")
