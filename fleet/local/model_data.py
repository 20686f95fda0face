"""A deployed model's data: downloaded from where the Model says it is, unpacked as a stranger's."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from fleet.local.hosting import HostingError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


def fetch_model_data(s3: S3Client, url: str, folder: Path) -> Path:
    """Download an archive and unpack it below `folder`; the folder of the unpacked model repository.

    Raises:
        HostingError: it is not there, is no .tar.gz, or holds entries that would leave the folder.
    """
    bucket, _, key = url.removeprefix("s3://").partition("/")
    archive, repository = folder / "model.tar.gz", folder / "model"
    try:
        s3.download_file(bucket, key, str(archive))
    except ClientError as error:
        raise HostingError(f"Could not download model data at {url}: {error}") from error
    try:
        with tarfile.open(archive, mode="r|gz") as tar:
            tar.extractall(repository, filter="data")
    except (tarfile.TarError, OSError, EOFError) as error:
        raise HostingError(f"Could not unpack model data at {url}: {error}") from error
    finally:
        archive.unlink(missing_ok=True)
    return repository
