"""The upload of the build script."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from triton_fleet.awsapi.errors import CONFLICT, PRECONDITION_FAILED, SuppressErrors
from triton_fleet.builds.engines.artifacts import script_key
from triton_fleet.builds.script import build_script
from triton_fleet.store.content_store import digest_of

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


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
            with SuppressErrors(PRECONDITION_FAILED, CONFLICT):
                self._s3.put_object(Bucket=self._bucket, Key=key, Body=content, IfNoneMatch="*")
        return key
