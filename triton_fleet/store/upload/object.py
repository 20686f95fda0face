"""One object of S3, written atomically as a stream, with a checksum."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from mmap import mmap
from typing import TYPE_CHECKING, Any, Self, cast

from botocore.exceptions import BotoCoreError, ClientError
from isal import isal_zlib

from triton_fleet.awsapi.errors import CONFLICT, NOT_FOUND, PRECONDITION_FAILED, SuppressErrors, http_status
from triton_fleet.findings import CannotRunError, FindingsError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef

SMALLEST_PART, PARTS = 8 << 20, 10_000
"""S3 takes parts of 5 MiB to 5 GiB, and 10,000 of them."""
MIB = 1 << 20
MEMORY = 64 * MIB
"""Bytes of all parts that are being filled or sent."""
CONNECTIONS = 8
NO_UPLOAD = "NoSuchUpload"


class CancelledError(Exception):
    """The command is ending."""


class MemoryBudget:
    """A budget of bytes; a request for more than are free waits.

    There is no deadlock if each user takes one part at a time and returns it before taking another.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._free = size
        self._condition = threading.Condition()
        self._is_cancelled = False

    def take(self, size: int) -> None:
        """Wait until so many bytes are free, and take them.

        Raises:
            CancelledError: the command is ending.
        """
        with self._condition:
            self._condition.wait_for(lambda: self._is_cancelled or self._free >= size)
            if self._is_cancelled:
                raise CancelledError
            self._free -= size

    def give_back(self, size: int) -> None:
        """Return bytes to the budget."""
        with self._condition:
            self._free += size
            self._condition.notify_all()

    def cancel(self) -> None:
        """Refuse all further requests."""
        with self._condition:
            self._is_cancelled = True
            self._condition.notify_all()


@dataclass(frozen=True)
class ObjectPlace:
    """The place of an object."""

    bucket: str
    key: str

    @property
    def url(self) -> str:
        """The URL, as for the AWS CLI."""
        return f"s3://{self.bucket}/{self.key}"


class TakenError(Exception):
    """Another writer was first."""


class ConflictError(Exception):
    """Another writer is writing the same key; S3 does not report who is first."""


def part_size(size: int) -> int:
    """The size of parts with which an object of at most `size` bytes stays below S3's number of parts."""
    return max(SMALLEST_PART, -(-size // PARTS // MIB) * MIB)


class ObjectWriters:
    """The connections and the memory that the writers of one command share.

    Writes in progress when the `with` block ends with an exception are aborted.
    """

    def __init__(self) -> None:
        self._budget = MemoryBudget(MEMORY)
        self._pool = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="upload")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, at: object) -> None:
        if error is not None:
            self.cancel()
        self._pool.shutdown()

    def cancel(self) -> None:
        """Abort all writes in progress at their next step."""
        self._budget.cancel()


class ObjectWriter:
    """Uploads bytes in parts as they come; `commit` creates the object, `abort` discards it.

    Each part takes its memory from the budget before it is filled, and returns it when S3 has the part. Not
    thread-safe.
    """

    def __init__(
        self,
        s3: S3Client,
        place: ObjectPlace,
        metadata: Mapping[str, str],
        *,
        part: int,
        budget: MemoryBudget,
        pool: Executor,
    ) -> None:
        self._s3, self.place, self._metadata = s3, place, metadata
        self._part, self._budget, self._pool = part, budget, pool
        self._buffer: mmap | None = None
        self._upload: str | None = None
        self._parts: list[Future[CompletedPartTypeDef]] = []
        self.size = self.crc = 0

    def write(self, data: bytes) -> int:
        """Take the next bytes.

        Raises:
            CancelledError: the command is ending.
            ClientError, BotoCoreError: S3 has refused a part.
        """
        rest = memoryview(data)
        while rest:
            if self._buffer is not None and self._buffer.tell() == self._part:
                self._send_part()
            if self._buffer is None:
                self._budget.take(self._part)
                # With malloc, the memory of sent parts would stay with this process.
                self._buffer = mmap(-1, self._part)
            chunk = rest[: self._part - self._buffer.tell()]
            self._buffer.write(chunk)
            rest = rest[len(chunk) :]
        self.size += len(data)
        self.crc = isal_zlib.crc32(data, self.crc)
        return len(data)

    def commit(self, *, only_if_new: bool) -> None:
        """Create the object from all written bytes.

        Raises:
            TakenError, ConflictError: with `only_if_new`, another writer was first or is writing.
            ClientError, BotoCoreError: S3 has refused it.
            CannotRunError: S3 stored something else than what was written; the object was deleted.
        """
        condition = {"IfNoneMatch": "*"} if only_if_new else {}
        try:
            answer = self._put(condition) if self._upload is None else self._complete(condition)
        except ClientError as error:
            status = http_status(error)
            if only_if_new and status == PRECONDITION_FAILED:
                raise TakenError from error
            if only_if_new and status == CONFLICT:
                raise ConflictError from error
            is_completed = error.response["Error"]["Code"] == NO_UPLOAD  # and the answer was lost
            answer = crc_base64(self.crc)
            if not is_completed or self._existing_object() != (self.size, answer):
                raise
        self._upload = None
        self._release()
        if answer != crc_base64(self.crc):
            self._verify_object()

    def abort(self) -> None:
        """Discard what was written, in S3 and in the budget.

        Raises:
            ClientError, BotoCoreError: S3 does not abort the upload; the bucket's lifecycle will.
        """
        for future in self._parts:
            future.cancel()
        wait(self._parts)  # a part that still arrives would outlive the upload
        self._parts.clear()
        self._release()
        if self._upload is not None:
            upload, self._upload = self._upload, None
            bucket, key = self.place.bucket, self.place.key
            with SuppressErrors(NO_UPLOAD):
                self._s3.abort_multipart_upload(Bucket=bucket, Key=key, UploadId=upload)

    @property
    def is_one_part(self) -> bool:
        """Whether everything is kept in memory until `commit`."""
        return self._upload is None

    def _release(self) -> None:
        if self._buffer is not None:
            self._buffer = None
            self._budget.give_back(self._part)

    def _send_part(self) -> None:
        if self._upload is None:
            self._upload = self._s3.create_multipart_upload(
                Bucket=self.place.bucket,
                Key=self.place.key,
                Metadata=dict(self._metadata),
                ChecksumAlgorithm="CRC32",
                ChecksumType="FULL_OBJECT",
            )["UploadId"]
        for part_done_future in [part for part in self._parts if part.done()]:
            part_done_future.result()  # after an error, the rest need not be sent
        body = self._body()
        future = self._pool.submit(self._upload_part, self._upload, len(self._parts) + 1, body)
        self._buffer = None
        self._parts.append(future)
        future.add_done_callback(lambda _: self._budget.give_back(self._part))

    def _body(self) -> bytes:
        if self._buffer is None:
            return b""
        size = self._buffer.tell()
        self._buffer.seek(0)
        # S3's client reads a part in place; it knows the size of bytes or of a file.
        return cast(bytes, self._buffer) if size == self._part else self._buffer[:size]

    def _upload_part(self, upload: str, number: int, body: bytes) -> CompletedPartTypeDef:
        checksum = crc_base64(isal_zlib.crc32(body))
        answer = self._s3.upload_part(
            Bucket=self.place.bucket,
            Key=self.place.key,
            UploadId=upload,
            PartNumber=number,
            Body=body,
            ChecksumAlgorithm="CRC32",
            ChecksumCRC32=checksum,
        )
        return {"PartNumber": number, "ETag": answer["ETag"], "ChecksumCRC32": checksum}

    def _complete(self, condition: dict[str, Any]) -> str | None:
        if self._buffer is not None:
            self._send_part()
        parts = [future.result() for future in self._parts]
        answer = self._s3.complete_multipart_upload(
            Bucket=self.place.bucket,
            Key=self.place.key,
            UploadId=self._upload or "",
            MultipartUpload={"Parts": parts},
            ChecksumType="FULL_OBJECT",
            ChecksumCRC32=crc_base64(self.crc),
            MpuObjectSize=self.size,
            **condition,
        )
        return answer.get("ChecksumCRC32")

    def _put(self, condition: dict[str, Any]) -> str | None:
        answer = self._s3.put_object(
            Bucket=self.place.bucket,
            Key=self.place.key,
            Body=self._body(),
            Metadata=dict(self._metadata),
            ChecksumAlgorithm="CRC32",
            ChecksumCRC32=crc_base64(self.crc),
            **condition,
        )
        return answer.get("ChecksumCRC32")

    def _verify_object(self) -> None:
        stored_facts, sent_facts = self._existing_object(), (self.size, crc_base64(self.crc))
        if stored_facts != sent_facts:
            self._s3.delete_object(Bucket=self.place.bucket, Key=self.place.key)
            problem = (
                f"{self.place.url}: S3 has stored {stored_facts[0]} bytes with the checksum {stored_facts[1]}"
            )
            problem += f" of {sent_facts[0]} bytes with {sent_facts[1]}"
            raise CannotRunError(problem, "run the command again; the object was deleted")

    def _existing_object(self) -> tuple[int, str | None]:
        """The size and the checksum of the object; 0 and none if it does not exist."""
        with SuppressErrors(NOT_FOUND):
            head = self._s3.head_object(Bucket=self.place.bucket, Key=self.place.key, ChecksumMode="ENABLED")
            return head["ContentLength"], head.get("ChecksumCRC32")
        return 0, None


def crc_base64(crc: int) -> str:
    """A CRC-32 as S3 has it."""
    return base64.b64encode(crc.to_bytes(4, "big")).decode()


class ContentChangedError(Exception):
    """The content differs from the expected one; nothing of it was published."""

    def __init__(self, content: str) -> None:
        self.content = content
        super().__init__(f"the content is {content}")


@contextmanager
def aborted_on_error(writer: ObjectWriter) -> Iterator[None]:
    """Write an object; on any error it is aborted.

    Raises:
        CannotRunError: S3 has refused it, or did not answer; or it cannot be aborted.
    """
    try:
        yield
    except BaseException as error:
        parts_note = ""
        try:
            writer.abort()
        except (BotoCoreError, ClientError) as failure:
            parts_note = f"; its parts stay until the bucket's lifecycle removes them: {failure}"
        if isinstance(error, BotoCoreError | ClientError):
            remedy = "run the command again: it continues where it stopped"
            raise CannotRunError(
                f"{writer.place.url} could not be written: {error}{parts_note}", remedy
            ) from error
        if parts_note and isinstance(error, ContentChangedError | FindingsError):
            raise CannotRunError(f"{writer.place.url} could not be written: {error}{parts_note}") from error
        raise
