"""The build script of engines as one zip file, which Python and CodeBuild both run, and its upload."""

from __future__ import annotations

import hashlib
import io
from functools import cached_property
from typing import TYPE_CHECKING
from zipfile import ZipFile, ZipInfo

from triton_fleet.awsapi.errors import CONFLICT, PRECONDITION_FAILED, SuppressErrors
from triton_fleet.builds.engines.artifacts import script_key
from triton_fleet.core.folders import source_path
from triton_fleet.store.content_store import digest_of

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

SOURCES = source_path("engine_build")
UNIX = 3
RUNS = frozenset({".py", ".json", ".txt"})
"""The files of the script; the rest of its folder is documentation."""


def build_script() -> tuple[bytes, str]:
    """The zip file and its digest, `sha256:...`; the same files give the same bytes."""
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for path in sorted(path for path in SOURCES.rglob("*") if path.suffix in RUNS):
            member = ZipInfo(path.relative_to(SOURCES).as_posix())
            member.create_system, member.external_attr = UNIX, 0o644 << 16
            # Not deflated: zlib and zlib-ng give different bytes.
            archive.writestr(member, path.read_bytes())
    content = file.getvalue()
    return content, f"sha256:{hashlib.sha256(content).hexdigest()}"


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
