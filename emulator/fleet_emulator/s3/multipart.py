"""Multipart uploads: their parts, and what CompleteMultipartUpload compares."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlparse

import xmltodict  # type: ignore[import-untyped]
from moto.core.common_types import TYPE_RESPONSE
from moto.core.responses import ActionResult
from moto.s3.exceptions import (
    EntityTooSmall,
    InvalidMaxPartNumberArgument,
    InvalidPart,
    InvalidPartOrder,
    MalformedXML,
    MissingKey,
    NoSuchUpload,
    PreconditionFailed,
    S3ClientError,
)
from moto.s3.models import FakeKey, FakeMultipart, S3Backend
from moto.s3.responses import S3Response

from fleet_emulator.s3 import checksums
from fleet_emulator.s3.checksums import COMPOSITE, FULL_OBJECT, Checksum, algorithm_and_type, composite
from fleet_emulator.s3.content import Content, Spool, checksum_headers, content_of, copy_range, fill, note


@dataclass(frozen=True, kw_only=True)
class Completion:
    """`size` in bytes; by number its parts' ETags and their checksums, "" where none is given."""

    size: int | None
    checksum: Checksum | None
    checksum_type: str
    etags: Mapping[int, str]
    checksums: Mapping[int, str]

    @classmethod
    def of(cls, headers: Mapping[str, str], body: bytes, algorithm: str) -> Completion:
        """Read a request; the upload's `algorithm` decides which of a part's checksums counts.

        Raises:
            S3ClientError: InvalidPartOrder (moto compares with 0 each time), or an invalid checksum.
        """
        size = headers.get("x-amz-mp-object-size")
        listed = xmltodict.parse(body, force_list=("Part",)) if body else {}
        parts: list[dict[str, Any]] = (listed.get("CompleteMultipartUpload") or {}).get("Part", [])
        numbers = [int(part["PartNumber"]) for part in parts]
        if any(after <= before for before, after in pairwise(numbers)):
            raise InvalidPartOrder
        return cls(
            size=None if size is None else int(size),
            checksum=checksums.request_checksum(headers),
            checksum_type=headers.get(checksums.TYPE, ""),
            etags={int(part["PartNumber"]): part["ETag"] for part in parts},
            checksums={int(part["PartNumber"]): part.get(f"Checksum{algorithm}") or "" for part in parts},
        )


SMALLEST_PART = 5 << 20
"""Bytes of every part but the last."""


class EmbeddedUpload(FakeMultipart):
    """One upload; `algorithm` and `checksum_type` are "" when it was created without."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.algorithm, self.checksum_type = algorithm_and_type(self.metadata)
        # moto answers both from here, and gives them to the object.
        self.metadata.update({checksums.TYPE: self.checksum_type} if self.algorithm else {})
        self.expected: Completion | None = None
        self.checksum: Checksum | None = None
        self._spool = Spool()

    def check_part(self, checksum: Checksum | None) -> None:
        """See that a part has the checksum that the upload needs.

        Raises:
            S3ClientError: InvalidRequest.
        """
        actual = checksum.algorithm if checksum else ""
        if self.algorithm and actual != self.algorithm and (actual or self.checksum_type == COMPOSITE):
            raise S3ClientError(
                "InvalidRequest",
                f"Checksum Type mismatch occurred, expected checksum Type: {self.algorithm.lower()}, "
                f"actual checksum Type: {actual.lower() or 'null'}",
            )

    def take_part(self, number: int, value: bytes | Content, checksum: Checksum | None) -> FakeKey:
        """Keep a part, in place of one that came before under its number."""
        part: FakeKey = self.set_part(number, b"")
        fill(part, value if isinstance(value, Content) else self._spool.keep(value))
        note(part, checksum, FULL_OBJECT)
        return part

    def complete(self, body: Iterator[tuple[int, str]]) -> tuple[Content, str, None]:  # type: ignore[override]
        """The content and its ETag; the checksum, if there is one, is in `checksum` then.

        Raises:
            S3ClientError: S3 would refuse it; the upload stays as it is.
        """
        parts = [self._part(number, etag) for number, etag in body]
        if not parts:
            raise MalformedXML
        if any(part.contentsize < SMALLEST_PART for part in parts[:-1]):
            raise EntityTooSmall
        content = Content.joined(content_of(part) for part in parts)
        if self.expected is not None:
            self._compare(self.expected, parts, content)
        md5s = b"".join(bytes.fromhex(part.etag.strip('"')) for part in parts)
        return content, f"{hashlib.md5(md5s, usedforsecurity=False).hexdigest()}-{len(parts)}", None

    def _part(self, number: int, etag: str) -> FakeKey:
        part = self.parts.get(number)
        if part is None or part.etag.strip('"') != etag.strip('"'):
            raise InvalidPart
        checksum = self.expected.checksums[number] if self.expected else ""
        if self.checksum_type == COMPOSITE and not checksum:
            raise S3ClientError(
                "InvalidRequest",
                f"The upload was created using a {self.algorithm.lower()} checksum. The complete request "
                f"must include the checksum for each part. It was missing for part {number} in the request.",
            )
        if checksum and part.checksum_value not in (None, checksum):
            raise InvalidPart
        return part

    def _compare(self, expected: Completion, parts: list[FakeKey], content: Content) -> None:
        if expected.size not in (None, len(content)):
            raise S3ClientError(
                "InvalidRequest",
                f"The provided 'x-amz-mp-object-size' header value {expected.size} does not match what was "
                f"computed: {len(content)}",
            )
        algorithm = self.algorithm or (expected.checksum.algorithm if expected.checksum else "")
        if self.checksum_type == COMPOSITE:
            self.checksum = composite(algorithm, (part.checksum_value for part in parts))
        else:
            self.checksum = checksums.compute_checksum(algorithm, content)
        if expected.checksum_type not in ("", self.checksum_type) or (
            expected.checksum and self.checksum and expected.checksum.plain != self.checksum.plain
        ):
            raise checksums.bad_digest(algorithm)
        self.checksum = self.checksum or expected.checksum


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
