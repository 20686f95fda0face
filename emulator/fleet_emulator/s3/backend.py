"""S3 with conditions, checksums and bucket policies: moto lets every account in.

Source: S3 user guide, how Amazon S3 authorizes a request for a bucket operation; IAM user guide, Principal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from moto.core.common_types import TYPE_RESPONSE
from moto.s3.exceptions import PreconditionFailed, S3AccessDeniedError
from moto.s3.models import FakeBucket, FakeKey
from moto.s3.urls import url_bases
from moto.s3.urls import url_paths as moto_paths

from fleet_emulator.permissions import statements, values_of
from fleet_emulator.s3 import checksums
from fleet_emulator.s3.checksums import COMPOSITE, FULL_OBJECT, compute_checksum
from fleet_emulator.s3.content import Content, OpenObject, Spool, checksum_headers, content_of, fill, note
from fleet_emulator.s3.multipart import MultipartBackend, MultipartResponse
from fleet_emulator.service_urls import ServiceUrls

_ACCOUNT = re.compile(r"(?:arn:[^:]+:(?:iam|sts)::)?(\*|\d{12})(?::.+)?")


def is_open_to(bucket: FakeBucket, account: str) -> bool:
    """Whether an account owns a bucket, or an Allow of the bucket's policy names it or one of its roles.

    Actions, resources and conditions of the policy are not evaluated.
    """
    return account == bucket.account_id or not {account, "*"}.isdisjoint(_accounts(bucket))


def _accounts(bucket: FakeBucket) -> Iterator[str]:
    for statement in statements([bucket.policy.decode()] if bucket.policy else []):
        if statement["Effect"] == "Allow":
            principal = statement.get("Principal", {})
            named = principal.get("AWS", []) if isinstance(principal, dict) else principal
            yield from (match[1] for match in map(_ACCOUNT.fullmatch, values_of(named)) if match)


class EmbeddedS3(MultipartBackend):
    """One account's S3 in one partition."""

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(
            url_bases,
            {path: getattr(EmbeddedS3Response, dispatch.__name__) for path, dispatch in moto_paths.items()},
        )

    def get_bucket(self, bucket_name: str) -> FakeBucket:
        """The bucket, of which every action begins with this.

        Raises:
            S3AccessDeniedError: it is another account's, whose policy does not let this one in.
        """
        bucket = super().get_bucket(bucket_name)
        if not is_open_to(bucket, self.account_id):
            raise S3AccessDeniedError
        return bucket

    def put_object(  # type: ignore[override]
        self, bucket_name: str, key_name: str, value: bytes | Content, **options: Any
    ) -> FakeKey:
        """PutObject, and what all other ways to make an object end with."""
        content = value if isinstance(value, Content) else Spool().keep(value)
        key = super().put_object(bucket_name, key_name, b"", **options)
        fill(key, content)
        return key

    def copy_object(  # type: ignore[override]
        self, src_key: FakeKey, dest_bucket_name: str, dest_key_name: str, **options: Any
    ) -> None:
        """CopyObject: the copy has no parts, so a composite checksum becomes one of the whole content."""
        super().copy_object(cast(FakeKey, OpenObject(src_key)), dest_bucket_name, dest_key_name, **options)
        copy = self.get_bucket(dest_bucket_name).keys[dest_key_name]
        copy.multipart = None
        if src_key.checksum_type == COMPOSITE:
            note(copy, compute_checksum(str(src_key.checksum_algorithm), content_of(copy)), FULL_OBJECT)
        else:
            copy.checksum_type = src_key.checksum_type


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
