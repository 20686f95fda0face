"""The memory that all uploads of one command share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectionError,
    HTTPClientError,
    IncompleteReadError,
    ResponseStreamingError,
)

from triton_fleet.findings import CannotRunError
from triton_fleet.store.content_store import DIGEST
from triton_fleet.store.upload.object import (
    ConflictError,
    ObjectPlace,
    ObjectWriter,
    ObjectWriters,
    TakenError,
    crc_base64,
    part_size,
)

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


CHUNK = 1 << 20
ATTEMPTS = 5
CONNECTION_ERRORS = (ConnectionError, HTTPClientError, IncompleteReadError, ResponseStreamingError)
"""Errors that botocore does not retry after an answer has begun."""
WHOLE = "FULL_OBJECT"


@dataclass(frozen=True, kw_only=True)
class SourceObject:
    """One version of an object; `crc` is its CRC-32 in S3, if S3 has one."""

    s3: S3Client
    place: ObjectPlace
    size: int
    etag: str
    crc: str | None

    def chunks(self) -> Iterator[bytes]:
        """All of its bytes; after a broken connection the next one continues from there.

        Raises:
            ClientError: it does not exist, was replaced, or access is denied.
            BotoCoreError: S3 does not answer, `ATTEMPTS` times in a row.
        """
        start, attempts = 0, ATTEMPTS
        while start < self.size:
            try:
                for chunk in self._from(start):
                    start, attempts = start + len(chunk), ATTEMPTS
                    yield chunk
            except CONNECTION_ERRORS:
                attempts -= 1
                if attempts == 0:
                    raise

    def _from(self, start: int) -> Iterator[bytes]:
        place, rest = self.place, f"bytes={start}-"
        answer = self.s3.get_object(Bucket=place.bucket, Key=place.key, Range=rest, IfMatch=self.etag)
        return answer["Body"].iter_chunks(CHUNK)


def source_object(s3: S3Client, place: ObjectPlace) -> SourceObject:
    """The current version of an object.

    Raises:
        ClientError: it does not exist, or access is denied.
    """
    head = s3.head_object(Bucket=place.bucket, Key=place.key, ChecksumMode="ENABLED")
    crc = head.get("ChecksumCRC32") if head.get("ChecksumType", WHOLE) == WHOLE else None
    return SourceObject(s3=s3, place=place, size=head["ContentLength"], etag=head["ETag"], crc=crc)


class Streams(ObjectWriters):
    """The copies of one promotion: their connections, and the memory of their parts."""

    def copy(
        self,
        source: SourceObject,
        s3: S3Client,
        place: ObjectPlace,
        digest: str,
        advance: Callable[[int], None],
        *,
        only_if_new: bool,
    ) -> bool:
        """Copy an object with the digest of its tar stream as metadata; False if the key is taken by then.

        The copy is atomic. `advance` is called with the number of bytes as they come.

        Raises:
            ClientError, BotoCoreError: S3 has refused it.
            CannotRunError: the received bytes do not have the object's checksum.
        """
        metadata = {DIGEST: digest}
        part = part_size(source.size)
        writer = ObjectWriter(s3, place, metadata, part=part, budget=self._budget, pool=self._pool)
        try:
            for chunk in source.chunks():
                writer.write(chunk)
                advance(len(chunk))
            if source.crc not in (None, crc_base64(writer.crc)):
                problem = f"the bytes received of {source.place.url} do not have its checksum in S3"
                raise CannotRunError(problem, "run the command again")
            writer.commit(only_if_new=only_if_new)
        except BaseException as error:
            with suppress(ClientError, BotoCoreError):  # the first error is the one to report
                writer.abort()
            if isinstance(error, TakenError):
                return False
            if isinstance(error, ConflictError):
                problem = f"another process is writing {place.url}"
                raise CannotRunError(problem, "run the command again") from error
            raise
        return True
