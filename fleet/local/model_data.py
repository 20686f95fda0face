"""A deployed model's data: downloaded from where the Model says it is, unpacked as a stranger's."""

from __future__ import annotations

import errno
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from backports import tarfile
from botocore.exceptions import ClientError

from fleet.local.hosting import HostingError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


def fetch_model_data(s3: S3Client, url: str, folder: Path) -> Path:
    """Download an archive and unpack it below `folder`; the folder of the unpacked model repository.

    Raises:
        HostingError: it is not there, is no .tar.gz, or holds entries that would leave the folder.
        OSError: the disk is full.
    """
    archive = folder / "model.tar.gz"
    download(s3, url, archive)
    try:
        return unpack(archive, folder / "model", url)
    finally:
        archive.unlink(missing_ok=True)


def download(s3: S3Client, url: str, archive: Path) -> None:
    """Download one object.

    Raises:
        HostingError: it is not there.
        OSError: the disk is full.
    """
    bucket, _, key = url.removeprefix("s3://").partition("/")
    try:
        s3.download_file(bucket, key, str(archive))
    except ClientError as error:
        raise HostingError(f"Could not download model data at {url}: {error}") from error


class TooLargeError(Exception):
    """An archive holds more than it may; `size` are the bytes until then."""

    def __init__(self, size: int, most: int) -> None:
        self.size, self.most = size, most
        super().__init__(f"{size} bytes are more than {most}")


def unpack(archive: Path, folder: Path, url: str, most: int | None = None) -> Path:
    """Unpack a .tar.gz into `folder`, which need not exist; the folder.

    Raises:
        HostingError: it is no .tar.gz, or holds entries that would leave the folder.
        TooLargeError: its files take more than `most` bytes; what exceeds it is not written.
        OSError: the disk is full.
    """
    try:
        with tarfile.open(archive, mode="r|gz") as tar:
            size = 0
            for member in tar:
                size += member.size
                if most is not None and size > most:
                    raise TooLargeError(size, most)
                tar.extract(member, folder, filter="data")
    except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            raise
        raise HostingError(f"Could not unpack model data at {url}: {error}") from error
    folder.mkdir(exist_ok=True)
    return folder
