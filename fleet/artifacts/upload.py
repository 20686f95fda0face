"""Archives packed straight into objects of S3, several at one time, in a fixed amount of memory."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from isal import isal_zlib

from fleet.artifacts.archive import Sink
from fleet.artifacts.pack import pack
from fleet.artifacts.store import DIGEST
from fleet.artifacts.upload_files import Contents, chunks, contents_of, unpacked
from fleet.artifacts.upload_memory import MemoryBudget
from fleet.artifacts.upload_object import (
    MIB,
    PARTS,
    ConflictError,
    ObjectPlace,
    ObjectWriter,
    TakenError,
    part_size,
)
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
"""For S3 clients that upload: throttling and broken connections are tried again for about two minutes."""
PLACEHOLDER, HELD = "PLACEHOLDER", b"S3 keeps no empty folder; Triton wants this one.\n"
"""A file in each folder without files, such as an ensemble's version."""

StreamWriter = Callable[[Sink], object]


__all__ = ["UPLOAD_CONFIG", "ContentChangedError", "ObjectPlace", "Uploads"]


class ContentChangedError(Exception):
    """What was read has another digest than was expected; nothing was written."""

    def __init__(self, found: str) -> None:
        self.found = found
        super().__init__(f"the content is {found}")


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
    ) -> bool:
        """Pack a tar stream of `size` bytes into a new object; False where another has put it there.

        `progress` is told the bytes of the tar stream as they are read.

        Raises:
            ContentChangedError: the stream has another digest.
            FindingsError: the stream cannot be read.
            CannotRunError: S3 has refused it, or it is too large.
        """
        # Deflate stores what it cannot shrink, with 5 bytes for each 64 KiB.
        part = part_size(size + size // 1000 + MIB)
        with self._packs:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    writer = self._writer(place, {DIGEST: digest}, part)
                    self._archive(writer, write_stream, digest, size, progress)
                except TakenError:
                    return False
                except ConflictError as error:
                    if attempt == ATTEMPTS:
                        problem = f"{place.url} could not be written: {error.__cause__}"
                        raise CannotRunError(problem, "run the command again") from error
                else:
                    break
        return True

    def _archive(
        self,
        writer: ObjectWriter,
        write_stream: StreamWriter,
        digest: str,
        size: int,
        progress: Callable[[int], None],
    ) -> None:
        with aborted_on_error(writer):
            stream = pack(lambda sink: _told(write_stream, sink, progress), writer, size)
            if stream.digest != digest:
                raise ContentChangedError(stream.digest)
            writer.commit(only_if_new=True)

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
    ) -> bool:
        """Put the files of a tar stream below a prefix, then the marker, which is JSON: each path's size.

        The stream is read twice: nothing of it is put before its digest is known to be the expected one, and
        no file that differs from what it was then. What breaks off leaves files without a marker, which the
        next run writes again: they are not deleted, as another publisher may be counting on them.

        Raises:
            ContentChangedError: the stream has another digest.
            FindingsError: the stream cannot be read.
            CannotRunError: S3 has refused it, or a file is too large.
        """
        with self._packs:
            contents = contents_of(write_stream)
            if contents.digest != digest:
                raise ContentChangedError(contents.digest)
            stored = self._put_files(bucket, prefix, write_stream, contents, progress)
            self._put(ObjectPlace(bucket, marker_key), json.dumps(stored).encode()).result()
        return True

    def _put_files(
        self,
        bucket: str,
        prefix: str,
        write_stream: StreamWriter,
        contents: Contents,
        progress: Callable[[int], None],
    ) -> dict[str, int]:
        stored: dict[str, int] = {}
        puts: list[Future[None]] = []
        try:
            with unpacked(lambda sink: _told(write_stream, sink, progress)) as members:
                for path, content, size in members:
                    if content is not None:
                        place = ObjectPlace(bucket, prefix + path)
                        crc = contents.files.get(path)
                        puts.append(self._put_chunks(place, chunks(content), size, crc))
                        stored[path] = size
            for folder in contents.empty_folders:
                path = f"{folder}/{PLACEHOLDER}"
                puts.append(self._put(ObjectPlace(bucket, prefix + path), HELD))
                stored[path] = len(HELD)
        finally:
            wait(puts)
        for put in puts:
            put.result()
        return stored

    def _put(self, place: ObjectPlace, content: bytes) -> Future[None]:
        return self._put_chunks(place, iter([content]), len(content), isal_zlib.crc32(content))

    def _put_chunks(
        self, place: ObjectPlace, content: Iterator[bytes], size: int, crc: int | None
    ) -> Future[None]:
        """Put one file: its content is read here, and what is one part is sent while others are read."""
        writer = self._writer(place, {}, part_size(size))
        with aborted_on_error(writer):
            for chunk in content:
                writer.write(chunk)
            if writer.crc != crc:
                raise ContentChangedError(f"another {place.key}")

        def commit() -> None:
            with aborted_on_error(writer):
                writer.commit(only_if_new=False)

        if writer.is_one_part:
            return self._pool.submit(commit)
        commit()  # waits for parts, which need the pool's threads
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _writer(self, place: ObjectPlace, metadata: dict[str, str], part: int) -> ObjectWriter:
        if part > self._budget.size:
            problem = f"{place.url} would be larger than {self._budget.size * PARTS >> 30} GiB"
            raise CannotRunError(problem, "give the models to several archives")
        return ObjectWriter(self._s3, place, metadata, part=part, budget=self._budget, pool=self._pool)


@contextmanager
def aborted_on_error(writer: ObjectWriter) -> Iterator[None]:
    """Work on an object that is forgotten where anything goes wrong.

    Raises:
        CannotRunError: S3 has refused it, or did not answer.
    """
    try:
        yield
    except BaseException as error:
        left = ""
        try:
            writer.abort()
        except (BotoCoreError, ClientError) as failure:
            left = f"; its parts stay there until the bucket's lifecycle removes them: {failure}"
        if isinstance(error, BotoCoreError | ClientError):
            remedy = "run the command again: it goes on from where it was"
            raise CannotRunError(f"{writer.place.url} could not be written: {error}{left}", remedy) from error
        raise


def _told(write_stream: StreamWriter, sink: Sink, progress: Callable[[int], None]) -> object:
    """Write the stream, and tell of each MiB that has passed."""
    passed = 0

    class _Told:
        def write(self, data: bytes) -> int:
            nonlocal passed
            sink.write(data)
            passed += len(data)
            if passed >= MIB:
                progress(passed)
                passed = 0
            return len(data)

    result = write_stream(_Told())
    progress(passed)
    return result
