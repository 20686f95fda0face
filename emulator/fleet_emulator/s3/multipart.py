"""Multipart uploads: their state and API calls, where moto compares no checksum and knows no unknown upload.

Source: Amazon S3 API reference, UploadPart, UploadPartCopy and CompleteMultipartUpload.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlparse

from moto.core.common_types import TYPE_RESPONSE
from moto.core.responses import ActionResult
from moto.s3.exceptions import InvalidMaxPartNumberArgument, MissingKey, NoSuchUpload, PreconditionFailed
from moto.s3.models import FakeKey, S3Backend
from moto.s3.responses import S3Response

from fleet_emulator.s3 import checksums
from fleet_emulator.s3.completion import Completion
from fleet_emulator.s3.keys import checksum_headers, copy_range, note
from fleet_emulator.s3.uploads import EmbeddedUpload

MAX_PARTS = 10_000


class MultipartBackend(S3Backend):
    """The uploads under way in one account's S3 in one partition."""

    def upload(self, bucket_name: str, upload_id: str, key_name: str) -> EmbeddedUpload:
        """An upload under way.

        Raises:
            NoSuchUpload: there is none, or it is of another key.
        """
        upload = self.get_bucket(bucket_name).multiparts.get(upload_id)
        if upload is None or upload.key_name != key_name:
            raise NoSuchUpload(upload_id=upload_id)
        return cast(EmbeddedUpload, upload)

    def create_multipart_upload(
        self, bucket_name: str, key_name: str, metadata: Any, *options: Any
    ) -> EmbeddedUpload:
        """CreateMultipartUpload."""
        storage, tags, acl, encryption, kms_key = options
        upload = EmbeddedUpload(
            key_name,
            metadata,
            account_id=self.account_id,
            region_name=self.region_name,
            storage=storage,
            tags=tags,
            acl=acl,
            sse_encryption=encryption,
            kms_key_id=kms_key,
        )
        self.get_bucket(bucket_name).multiparts[upload.id] = upload
        return upload

    def complete_multipart_upload(
        self, bucket_name: str, multipart_id: str, body: Iterator[tuple[int, str]]
    ) -> FakeKey:
        """CompleteMultipartUpload."""
        upload = cast(EmbeddedUpload, self.get_bucket(bucket_name).multiparts[multipart_id])
        key = super().complete_multipart_upload(bucket_name, multipart_id, body)
        assert key is not None  # noqa: S101 (an upload is completed or refused)
        for header in (checksums.ALGORITHM, checksums.TYPE):
            key.metadata.pop(header, None)  # moto stores them as metadata, which a copy inherits
        note(key, upload.checksum, upload.checksum_type or checksums.FULL_OBJECT)
        return key


class MultipartResponse(S3Response):
    """Reads requests and writes answers; moto calls each method by its name."""

    @property
    def backend(self) -> MultipartBackend:
        """The bucket's backend."""
        return cast(MultipartBackend, super().backend)

    def upload_part(self) -> TYPE_RESPONSE:
        """UploadPart."""
        upload, number = self._upload_and_number()
        checksum = checksums.request_checksum(self.headers, self.raw_body)
        upload.check_part(checksum)
        if checksum is not None:
            checksums.compare(checksum, [self.body])
        elif upload.algorithm:
            checksum = checksums.compute_checksum(upload.algorithm, [self.body])
        part = upload.take_part(number, self.body, checksum)
        headers = {**self._get_cors_headers_other(), **part.response_dict, "content-length": "0"}
        if checksum is not None:
            headers[checksum.header] = checksum.value
        return 200, headers, ""

    def upload_part_copy(self) -> TYPE_RESPONSE:
        """UploadPartCopy."""
        upload, number = self._upload_and_number()
        content = copy_range(self._copy_source(), self.headers.get("x-amz-copy-source-range", ""))
        checksum = checksums.compute_checksum(upload.algorithm, content)
        part = upload.take_part(number, content, checksum)
        result = {"LastModified": part.last_modified_ISO8601, "ETag": part.etag, **_fields(part)}
        self.data["Action"] = "UploadPartCopy"
        return self.serialized(ActionResult({"CopyPartResult": result}))

    def _upload_and_number(self) -> tuple[EmbeddedUpload, int]:
        number = self._get_int_param("partNumber")
        if not 1 <= number <= MAX_PARTS:
            raise InvalidMaxPartNumberArgument(number)
        return self.backend.upload(
            self.bucket_name, self._get_param("uploadId"), self.parse_key_name()
        ), number

    def _copy_source(self) -> FakeKey:
        """The object that is copied.

        Raises:
            MissingKey: there is none.
            PreconditionFailed: it is another than the one that is meant.
        """
        source = urlparse(self.headers["x-amz-copy-source"])
        bucket, _, key = unquote(source.path).lstrip("/").partition("/")
        version = parse_qs(source.query).get("versionId", [None])[0]
        found = self.backend.get_object(bucket, key, version_id=version)
        if found is None:
            raise MissingKey(key=key)
        wanted = self.headers.get("x-amz-copy-source-if-match")
        if wanted and wanted.strip('"') != found.etag.strip('"'):
            raise PreconditionFailed("x-amz-copy-source-If-Match")
        return found

    def _key_response_post(
        self, request: Any, body: bytes, bucket_name: str, query: dict[str, Any], key_name: str
    ) -> TYPE_RESPONSE:
        if "uploadId" not in query:
            return super()._key_response_post(request, body, bucket_name, query, key_name)
        self._set_action("KEY", "POST", query)
        self._authenticate_and_authorize_s3_action(bucket_name=bucket_name, key_name=key_name)
        key = self._complete(query["uploadId"][0], key_name, body)
        self.data["Action"] = "CompleteMultipartUpload"
        answer = {
            "Location": f"{self.parsed_url.scheme}://{self.parsed_url.netloc}/{bucket_name}/{key_name}",
            "Bucket": bucket_name,
            "Key": key_name,
            "ETag": key.etag,
            "ServerSideEncryption": key.encryption,
            "SSEKMSKeyId": key.kms_key_id,
            "VersionId": key.version_id if key._is_versioned else None,
            **_fields(key),
        }
        return self.serialized(ActionResult(answer))

    def _complete(self, upload_id: str, key_name: str, body: bytes) -> FakeKey:
        existing = self.backend.get_object(self.bucket_name, key_name)
        if existing is not None and existing.multipart and existing.multipart.id == upload_id:
            return existing  # the request was repeated
        upload = self.backend.upload(self.bucket_name, upload_id, key_name)
        if existing is not None and self.headers.get("If-None-Match") == "*":
            raise PreconditionFailed("If-None-Match")
        upload.expected = Completion.of(self.headers, body, upload.algorithm)
        return self.backend.complete_multipart_upload(
            self.bucket_name, upload_id, iter(upload.expected.etags.items())
        )


def _fields(key: FakeKey) -> dict[str, str | None]:
    checksum = checksum_headers(key)
    if checksum is None:
        return {}
    return {f"Checksum{checksum.algorithm}": checksum.value, "ChecksumType": key.checksum_type}
