"""A multipart upload: its parts share one file, and completing it joins them without a copy.

Source of the rules: Amazon S3 API reference, CreateMultipartUpload, UploadPart and CompleteMultipartUpload.
moto puts the object together in memory, several times over, and compares nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from moto.s3.exceptions import EntityTooSmall, InvalidPart, MalformedXML, S3ClientError
from moto.s3.models import FakeKey, FakeMultipart

from fleet_emulator.s3 import checksums
from fleet_emulator.s3.checksums import COMPOSITE, FULL_OBJECT, Checksum, algorithm_and_type, composite
from fleet_emulator.s3.completion import Completion
from fleet_emulator.s3.content import Content, Spool
from fleet_emulator.s3.keys import content_of, fill, note

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
