"""S3's buckets: moto's backend over contents that are kept once.

moto holds all bytes of an object in memory, several times over, while it completes an upload, and all of them
for each range that is read: 600 MB took 2.9 GB, and 23 seconds to download.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any, cast

from moto.s3.exceptions import NoSuchUpload, S3AccessDeniedError
from moto.s3.models import FakeBucket, FakeKey, S3Backend

from fleet_emulator.s3 import responses
from fleet_emulator.s3.bucket_policy import is_open_to
from fleet_emulator.s3.checksums import ALGORITHM, COMPOSITE, FULL_OBJECT, TYPE, compute_checksum
from fleet_emulator.s3.content import Content, Spool
from fleet_emulator.s3.keys import OpenObject, content_of, fill, note
from fleet_emulator.s3.uploads import EmbeddedUpload


class EmbeddedS3(S3Backend):
    """One account's S3 in one partition."""

    @property
    def _url_module(self) -> ModuleType:
        return responses

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
        for header in (ALGORITHM, TYPE):
            key.metadata.pop(header, None)  # moto stores them as metadata, which a copy inherits
        note(key, upload.checksum, upload.checksum_type or FULL_OBJECT)
        return key
