"""The files of a repository as objects of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, wait

from isal import isal_zlib

from triton_fleet.core.tar_writer import Sink
from triton_fleet.repository.stream import ChunkStream
from triton_fleet.store.archive import PLACEHOLDER_CONTENT, Checksums, Entry, crc_text, placeholders
from triton_fleet.store.upload.object import ContentChangedError, ObjectPlace, ObjectWriter, aborted_on_error


class FileUploads:
    """Writes files; the pool sends those of one part while the next are read."""

    def __init__(self, new_writer: Callable[[ObjectPlace, int], ObjectWriter], pool: Executor) -> None:
        self._new_writer, self._pool = new_writer, pool

    def all_of(
        self, bucket: str, prefix: str, entries: Iterable[Entry], checksums: Checksums, meter: Sink
    ) -> dict[str, int]:
        """Write the files of a repository below a prefix, and to `meter`; return their sizes by path.

        Raises:
            ContentChangedError: the entries are not those of the checksums.
            CannotRunError: S3 has refused a file, or it is too large.
        """
        sizes: dict[str, int] = {}
        puts: list[Future[None]] = []
        try:
            for entry in entries:
                if entry.chunks is not None:
                    place, checksum = (
                        ObjectPlace(bucket, prefix + entry.path),
                        checksums.files.get(entry.path),
                    )
                    puts = [put for put in puts if not _is_done(put)]
                    content = ChunkStream(entry.chunks(), meter.write).pieces()
                    puts.append(self._put_chunks(place, content, entry.size, checksum))
                    sizes[entry.path] = entry.size
            if sizes.keys() != checksums.files.keys():
                raise ContentChangedError("without files that it had")
            for path in placeholders(checksums.files, checksums.folders):
                puts.append(self._put(ObjectPlace(bucket, prefix + path), PLACEHOLDER_CONTENT))
                sizes[path] = len(PLACEHOLDER_CONTENT)
        finally:
            wait(puts)
        for put in puts:
            put.result()
        return sizes

    def put_content(self, place: ObjectPlace, content: bytes) -> None:
        """Write one file.

        Raises:
            CannotRunError: S3 has refused it.
        """
        self._put(place, content).result()

    def _put(self, place: ObjectPlace, content: bytes) -> Future[None]:
        return self._put_chunks(place, iter([content]), len(content), crc_text(isal_zlib.crc32(content)))

    def _put_chunks(
        self, place: ObjectPlace, content: Iterator[bytes], size: int, checksum: str | None
    ) -> Future[None]:
        writer = self._new_writer(place, size)
        with aborted_on_error(writer):
            for chunk in content:
                writer.write(chunk)
            if crc_text(writer.crc) != checksum:
                raise ContentChangedError(f"another {place.key}")

        def commit() -> None:
            with aborted_on_error(writer):
                writer.commit(only_if_new=False)

        if writer.is_one_part:
            return self._pool.submit(commit)
        commit()  # waits for parts, which need the pool's threads
        future: Future[None] = Future()
        future.set_result(None)
        return future


def _is_done(put: Future[None]) -> bool:
    """Whether it has ended; raises its error at once, not after thousands of others."""
    if put.done():
        put.result()
    return put.done()
