"""The build script in the artifact bucket, under its digest."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from triton_fleet.builds.engines.artifacts import script_key
from triton_fleet.store.content_store import digest_of
from triton_fleet.store.engine_script import build_script

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

TAKEN, CONFLICT = 412, 409


class ScriptUpload:
    """The script of one publish, which is uploaded when it is first needed."""

    def __init__(self, s3: S3Client, bucket: str) -> None:
        self._s3, self._bucket = s3, bucket

    @cached_property
    def key(self) -> str:
        """Upload the build script unless it exists; return its key.

        Raises:
            ClientError: S3 refuses.
        """
        content, digest = build_script()
        key = script_key(digest)
        if digest_of(self._s3, self._bucket, key) is None:
            try:
                self._s3.put_object(Bucket=self._bucket, Key=key, Body=content, IfNoneMatch="*")
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] not in (TAKEN, CONFLICT):
                    raise
        return key
