"""Uploads of archives that must have an expected content, packed or as separate files."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from botocore.config import Config

from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import CannotRunError
from triton_fleet.store.archive import DigestWriter, EntrySource, pack
from triton_fleet.store.content_store import DIGEST
from triton_fleet.store.upload.files import FileUploads
from triton_fleet.store.upload.object import (
    MIB,
    PARTS,
    ConflictError,
    ContentChangedError,
    ObjectPlace,
    ObjectWriter,
    ObjectWriters,
    TakenError,
    aborted_on_error,
    part_size,
)

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


STEP = 1 << 20


class Meter:
    """Passes bytes on to a sink, if there is one; calls `progress` with a MiB or more at a time.

    It refuses what exceeds `size` bytes: memory and parts are planned for no more.
    """

    def __init__(
        self, size: int, progress: Callable[[int], None] = lambda _: None, sink: Sink | None = None
    ) -> None:
        self._size, self._progress, self._sink = size, progress, sink
        self._size_so_far = self._size_at_report = 0

    def write(self, data: bytes) -> int:
        """Take the next bytes.

        Raises:
            ContentChangedError: they are too many.
        """
        if self._size_so_far + len(data) > self._size:
            raise ContentChangedError(f"longer than the expected {self._size} bytes")
        if self._sink is not None:
            self._sink.write(data)
        self._size_so_far += len(data)
        if self._size_so_far - self._size_at_report >= STEP:
            self._progress(self._size_so_far - self._size_at_report)
            self._size_at_report = self._size_so_far
        return len(data)

    def finish(self) -> None:
        """Call `progress` with what is left of the size, as nothing more comes."""
        self._progress(self._size - self._size_at_report)


PACKS = 4
"""How many archives are compressed in parallel; each needs some 10 MiB beside its parts."""
ATTEMPTS = 3
UPLOAD_CONFIG = Config(
    max_pool_connections=32,
    retries={"mode": "standard", "total_max_attempts": 10},
    tcp_keepalive=True,
)
"""For S3 clients that upload: botocore's backoff waits 55 s on average for throttling, 13 s for other
errors."""

Check = Callable[[str], None]
"""Called with the digest of what was written; raises if that is other content."""


class Uploads(ObjectWriters):
    """The uploads of one command: their connections and their memory.

    `archive` and `files` may be called from several threads. Writes are atomic; what fails, or is in progress
    when the `with` block ends with an exception, is aborted.
    """

    def __init__(self, s3: S3Client) -> None:
        super().__init__()
        self._s3 = s3
        self._packs = threading.Semaphore(PACKS)

    def archive(
        self,
        place: ObjectPlace,
        write_stream: Callable[[Sink], object],
        *,
        digest: str,
        size: int,
        progress: Callable[[int], None] = lambda _: None,
        check: Check | None = None,
    ) -> bool:
        """Pack a tar stream of `size` bytes into a new object; False if another process has written it.

        `progress` is called with the bytes of the tar stream as they are read. `check` is called with the
        stream's digest and raises if it is not allowed; without `check`, it must be `digest`.

        Raises:
            ContentChangedError: the stream has another digest, or is longer.
            FindingsError: the stream cannot be read.
            CannotRunError: S3 has refused it, or it is too large.
        """
        # Deflate stores what it cannot shrink, with 5 bytes for each 64 KiB.
        part = part_size(size + size // 1000 + MIB)

        def write_gzip(writer: ObjectWriter) -> str:
            return pack(write_with_meter, writer, size).digest

        def write_with_meter(sink: Sink) -> None:
            meter = Meter(size, progress, sink)
            write_stream(meter)
            meter.finish()

        with self._packs:
            return self._new_object(place, {DIGEST: digest}, part, write_gzip, check or _digest_check(digest))

    def file(
        self, place: ObjectPlace, chunks: Callable[[], Iterator[bytes]], *, digest: str, size: int
    ) -> bool:
        """Write `size` bytes into a new object; False if another process has written it.

        Raises:
            ContentChangedError: they have another digest, or are more.
            FindingsError: they cannot be read.
            CannotRunError: S3 has refused it, or it is too large.
        """

        def write_chunks(writer: ObjectWriter) -> str:
            digest_writer = DigestWriter(writer)
            for chunk in chunks():
                digest_writer.write(chunk)
                if digest_writer.size > size:
                    raise ContentChangedError(f"longer than the expected {size} bytes")
            return digest_writer.digest

        return self._new_object(place, {}, part_size(size), write_chunks, _digest_check(digest))

    def _new_object(
        self,
        place: ObjectPlace,
        metadata: dict[str, str],
        part: int,
        write: Callable[[ObjectWriter], str],
        check: Check,
    ) -> bool:
        """Write an object if its key is free; `write` returns the digest for `check`."""
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
        source: EntrySource,
        *,
        digest: str,
        size: int,
        progress: Callable[[int], None] = lambda _: None,
        check: Check | None = None,
    ) -> bool:
        """Write the files of a repository below a prefix, then the marker: JSON with each path's size.

        It is read twice: nothing is written before its digest is known to be the expected one, and no file
        that differs from the first read. An interruption leaves files without a marker, which the
        next run writes again: they are not deleted, as another publisher may use them. `check` is that of
        `archive`.

        Raises:
            ContentChangedError: the stream has another digest, or is longer.
            FindingsError: the stream cannot be read.
            CannotRunError: S3 has refused it, or a file is too large.
        """
        with self._packs:
            stream, meter = DigestWriter(), Meter(size, progress)
            checksums = source.write(Meter(size, sink=stream))
            (check or _digest_check(digest))(stream.digest)
            uploads = FileUploads(lambda place, size: self._writer(place, {}, part_size(size)), self._pool)
            file_sizes = uploads.all_of(bucket, prefix, source.entries(), checksums, meter)
            meter.finish()
            uploads.put_content(ObjectPlace(bucket, marker_key), json.dumps(file_sizes).encode())
        return True

    def _writer(self, place: ObjectPlace, metadata: dict[str, str], part: int) -> ObjectWriter:
        if part > self._budget.size:
            problem = f"{place.url} would be larger than {self._budget.size * PARTS >> 30} GiB"
            raise CannotRunError(problem, "split the models into several archives")
        return ObjectWriter(self._s3, place, metadata, part=part, budget=self._budget, pool=self._pool)


def _digest_check(digest: str) -> Check:
    def check(new_digest: str) -> None:
        if new_digest != digest:
            raise ContentChangedError(new_digest)

    return check
