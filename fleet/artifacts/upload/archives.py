"""Archives packed straight into objects of S3, several at one time, in a fixed amount of memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Self

from botocore.config import Config

from fleet.artifacts.archive import DigestWriter
from fleet.artifacts.pack import pack
from fleet.artifacts.store import DIGEST
from fleet.artifacts.upload.errors import ContentChangedError, aborted_on_error
from fleet.artifacts.upload.files import FileUploads
from fleet.artifacts.upload.memory import MemoryBudget
from fleet.artifacts.upload.meter import StreamWriter, with_meter
from fleet.artifacts.upload.object import (
    MIB,
    PARTS,
    ConflictError,
    ObjectPlace,
    ObjectWriter,
    TakenError,
    part_size,
)
from fleet.artifacts.upload.tar import contents_of
from fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MEMORY = 64 * MIB
"""Of all parts that are filled or under way."""
CONNECTIONS = 8
PACKS = 4
"""So many archives are compressed at one time; each takes some 10 MiB beside its parts."""
ATTEMPTS = 3
UPLOAD_CONFIG = Config(
    max_pool_connections=32,
    retries={"mode": "standard", "total_max_attempts": 10},
    tcp_keepalive=True,
)
"""For S3 clients that upload: by botocore's backoff, throttling is outwaited for 55 s on average, what else
breaks for 13 s."""

Check = Callable[[str], None]
"""Takes the digest of what was written, and raises where it is another content."""
__all__ = ["UPLOAD_CONFIG", "ContentChangedError", "ObjectPlace", "Uploads"]


class Uploads:
    """The uploads of one command: their connections and their memory.

    `archive` and `files` may be called from several threads. An object appears whole or not at all; what
    fails, or is under way when the `with` block ends by an exception, is aborted.
    """

    def __init__(self, s3: S3Client) -> None:
        self._s3 = s3
        self._budget = MemoryBudget(MEMORY)
        self._pool = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="upload")
        self._packs = threading.Semaphore(PACKS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if error is not None:
            self.cancel()
        self._pool.shutdown()

    def cancel(self) -> None:
        """End all uploads that are under way, as soon as they want to go on; they are aborted."""
        self._budget.cancel()

    def archive(
        self,
        place: ObjectPlace,
        write_stream: StreamWriter,
        *,
        digest: str,
        size: int,
        progress: Callable[[int], None] = lambda _: None,
        check: Check | None = None,
    ) -> bool:
        """Pack a tar stream of `size` bytes into a new object; False where another has put it there.

        `progress` is told the bytes of the tar stream as they are read. `check` is given the digest that the
        stream turns out to have, and raises where it must not; without it, that has to be `digest`.

        Raises:
            ContentChangedError: the stream has another digest, or is longer.
            FindingsError: the stream cannot be read.
            CannotRunError: S3 has refused it, or it is too large.
        """
        # Deflate stores what it cannot shrink, with 5 bytes for each 64 KiB.
        part = part_size(size + size // 1000 + MIB)

        def packed(writer: ObjectWriter) -> str:
            return pack(with_meter(write_stream, size, progress), writer, size).digest

        with self._packs:
            return self._new_object(place, {DIGEST: digest}, part, packed, check or _digest_check(digest))

    def file(
        self, place: ObjectPlace, chunks: Callable[[], Iterator[bytes]], *, digest: str, size: int
    ) -> bool:
        """Put `size` bytes as they are into a new object; False where another has put it there.

        Raises:
            ContentChangedError: they have another digest, or are more.
            FindingsError: they cannot be read.
            CannotRunError: S3 has refused it, or it is too large.
        """

        def written(writer: ObjectWriter) -> str:
            seen = DigestWriter(writer)
            for chunk in chunks():
                seen.write(chunk)
                if seen.size > size:
                    raise ContentChangedError(f"longer than the expected {size} bytes")
            return seen.digest

        return self._new_object(place, {}, part_size(size), written, _digest_check(digest))

    def _new_object(
        self,
        place: ObjectPlace,
        metadata: dict[str, str],
        part: int,
        write: Callable[[ObjectWriter], str],
        check: Check,
    ) -> bool:
        """Write an object if its key is free; `write` says which digest `check` is given."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                writer = self._writer(place, metadata, part)
                with aborted_on_error(writer):
                    check(write(writer))
                    writer.commit(only_if_new=True)
            except TakenError:
                return False
            except ConflictError as error:
                if attempt == ATTEMPTS:
                    problem = f"{place.url} could not be written: {error.__cause__}"
                    raise CannotRunError(problem, "run the command again") from error
            else:
                break
        return True

    def files(
        self,
        bucket: str,
        prefix: str,
        marker_key: str,
        write_stream: StreamWriter,
        *,
        digest: str,
        size: int,
        progress: Callable[[int], None] = lambda _: None,
        check: Check | None = None,
    ) -> bool:
        """Put the files of a tar stream below a prefix, then the marker, which is JSON: each path's size.

        The stream is read twice: nothing of it is put before its digest is known to be the expected one, and
        no file that differs from what it was then. What breaks off leaves files without a marker, which the
        next run writes again: they are not deleted, as another publisher may be counting on them. `check` is
        that of `archive`.

        Raises:
            ContentChangedError: the stream has another digest, or is longer.
            FindingsError: the stream cannot be read.
            CannotRunError: S3 has refused it, or a file is too large.
        """
        with self._packs:
            contents = contents_of(with_meter(write_stream, size, lambda _: None))
            (check or _digest_check(digest))(contents.digest)
            uploads = FileUploads(lambda place, size: self._writer(place, {}, part_size(size)), self._pool)
            stored = uploads.all_of(bucket, prefix, with_meter(write_stream, size, progress), contents)
            uploads.one(ObjectPlace(bucket, marker_key), json.dumps(stored).encode())
        return True

    def _writer(self, place: ObjectPlace, metadata: dict[str, str], part: int) -> ObjectWriter:
        if part > self._budget.size:
            problem = f"{place.url} would be larger than {self._budget.size * PARTS >> 30} GiB"
            raise CannotRunError(problem, "give the models to several archives")
        return ObjectWriter(self._s3, place, metadata, part=part, budget=self._budget, pool=self._pool)


def _digest_check(digest: str) -> Check:
    def check(found: str) -> None:
        if found != digest:
            raise ContentChangedError(found)

    return check
