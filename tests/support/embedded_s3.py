"""S3 of an embedded AWS, and multipart uploads in a few words."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_app.clients import client
from tests.support.running_aws import running_aws

BUCKET = "archives"
PART = 5 << 20
FIRST, LAST = bytes(range(256)) * (PART // 256), b"the end"
"""Two parts of an object, of which the first is as small as S3 takes it."""


@contextmanager
def embedded_s3() -> Iterator[Any]:
    """A client of an embedded AWS with one bucket, empty and without versions."""
    with running_aws() as aws:
        s3 = client(aws, "s3")
        s3.create_bucket(Bucket=BUCKET)
        yield s3


def crc32(body: bytes) -> str:
    """As S3 writes it."""
    return b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()


class Upload:
    """One multipart upload; `parts` is what its completion lists."""

    def __init__(self, s3: Any, key: str, **options: Any) -> None:
        self.api = s3
        self.id = s3.create_multipart_upload(Bucket=BUCKET, Key=key, **options)["UploadId"]
        self.location = {"Bucket": BUCKET, "Key": key, "UploadId": self.id}
        self.parts: list[dict[str, Any]] = []

    def part(self, number: int, body: bytes, **options: Any) -> dict[str, Any]:
        """Upload a part and list it."""
        answer: dict[str, Any] = self.api.upload_part(
            **self.location, PartNumber=number, Body=body, **options
        )
        self.parts.append({"PartNumber": number, "ETag": answer["ETag"]})
        return answer

    def with_all_parts(self, bodies: Sequence[bytes], **options: Any) -> Upload:
        """Upload parts in their order."""
        for number, body in enumerate(bodies, 1):
            self.part(number, body, **options)
        return self

    def complete(self, **options: Any) -> dict[str, Any]:
        """Complete it with the listed parts."""
        answer: dict[str, Any] = self.api.complete_multipart_upload(
            **self.location, MultipartUpload={"Parts": self.parts}, **options
        )
        return answer


@contextmanager
def refuse_requests(status: int, code: str, message: str | None = None) -> Iterator[None]:
    """Requests within are refused by S3 like this."""
    with pytest.raises(ClientError, match=message) as refusal:
        yield
    response = refusal.value.response
    assert (response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]) == (status, code)
