"""A deployed model's data: downloaded from the Model's URL, unpacked as untrusted input."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet_emulator.hosting import HostingError
from triton_fleet.repository.unpacking import (
    Budget,
    TooLargeError,
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


def download(s3: S3Client, url: str, archive: Path, budget: Budget) -> None:
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


def unpack(archive: Path, folder: Path, url: str, budget: Budget) -> Path:
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
