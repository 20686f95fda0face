"""S3's API calls for objects, where moto believes every checksum and overwrites what must not be."""

from __future__ import annotations

from typing import Any, cast

from moto.core.common_types import TYPE_RESPONSE
from moto.s3.exceptions import PreconditionFailed
from moto.s3.models import FakeKey
from moto.s3.urls import url_bases
from moto.s3.urls import url_paths as moto_paths

from fleet_emulator.s3 import checksums
from fleet_emulator.s3.checksums import FULL_OBJECT
from fleet_emulator.s3.keys import OpenObject, checksum_headers
from fleet_emulator.s3.multipart import MultipartResponse

__all__ = ["EmbeddedS3Response", "url_bases", "url_paths"]


class EmbeddedS3Response(MultipartResponse):
    """Reads requests and writes answers; moto calls each method by its name."""

    def put_object(self) -> TYPE_RESPONSE:
        """PutObject; its condition If-None-Match is moto's."""
        answer = super().put_object()
        key = self.backend.get_object(self.bucket_name, self.parse_key_name())
        if key is not None and checksum_headers(key) is not None:
            key.checksum_type = FULL_OBJECT
            answer[1][checksums.TYPE] = FULL_OBJECT
        return answer

    def copy_object(self) -> TYPE_RESPONSE:
        """CopyObject, on its conditions."""
        self._copy_source()
        if self.headers.get("If-None-Match") == "*":
            there = self.backend.get_object(self.bucket_name, self.parse_key_name())
            if there is not None:
                raise PreconditionFailed("If-None-Match")
        return super().copy_object()

    def head_object(
        self, bucket_name: str, query: dict[str, Any], key_name: str, headers: dict[str, Any]
    ) -> TYPE_RESPONSE:
        """HeadObject; moto leaves out the checksum's type, and the number of parts."""
        status, answered, body = super().head_object(bucket_name, query, key_name, headers)
        if status == 200 and headers.get("x-amz-checksum-mode") == "ENABLED":
            key = self.backend.head_object(
                bucket_name, key_name, version_id=query.get("versionId", [None])[0]
            )
            checksum = checksum_headers(key) if key is not None else None
            if key is not None and checksum is not None:
                answered.update({checksum.header: checksum.value, checksums.TYPE: key.checksum_type})
        return status, answered, body

    def _get_key(self, validate_storage_class: bool = True) -> tuple[FakeKey, bool]:
        key, not_modified = super()._get_key(validate_storage_class)
        return cast(FakeKey, OpenObject(key)), not_modified

    def _get_checksum(self, response_headers: dict[str, Any]) -> tuple[str, str | None]:
        """The checksum that the request gives for its body, compared with the body."""
        checksum = checksums.request_checksum(self.headers, self.raw_body)
        if checksum is None:
            return "", None
        checksums.compare(checksum, [self.body])
        response_headers[checksum.header] = checksum.value
        return checksum.algorithm, checksum.value


url_paths = {path: getattr(EmbeddedS3Response, dispatch.__name__) for path, dispatch in moto_paths.items()}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
