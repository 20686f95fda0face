"""Uploads to an embedded S3 behind a faulty proxy, and tar streams to upload."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botocore.config import Config

from tests.support.faulty_s3 import FaultyS3, Request, faulty_s3
from tests.support.sessions import shared_session
from triton_fleet.core.tar_writer import Sink
from triton_fleet.store.archive import Checksums, DigestWriter, Entry, write_tar
from triton_fleet.store.upload.archives import UPLOAD_CONFIG, Uploads
from triton_fleet.store.upload.object import ObjectPlace

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

BUCKET = "artifacts"
PLACE = ObjectPlace(BUCKET, "archives/x.tar.gz")
MIB = 1 << 20
NOISE = random.Random(0).randbytes(MIB)
SMALL, LARGE = 100_000, 20 * MIB
FILE = "ünï/1/model file.bin"


class Stream:
    """A tar stream of an empty version and of files by their size, with its digest and size."""

    def __init__(self, *sizes: int) -> None:
        names = [FILE, *(f"ünï/1/{number}.bin" for number in range(1, len(sizes)))]
        files = [_file(name, size) for name, size in zip(names, sizes, strict=True)]
        self._entries = [Entry("ensemble"), Entry("ensemble/1"), *files]
        writer = DigestWriter()
        self.write(writer)
        self.digest, self.size = writer.digest, writer.size

    def write(self, sink: Sink) -> Checksums:
        return write_tar(self._entries, sink)

    def entries(self) -> Iterator[Entry]:
        return iter(self._entries)

    def drop_folders(self) -> None:
        self._entries = [entry for entry in self._entries if entry.chunks]


class Reads:
    """A source that is another of some streams each time that it is read, and at last the last of them."""

    def __init__(self, streams: Iterable[Stream]) -> None:
        self._remaining_streams = list(streams)

    def write(self, sink: Sink) -> Checksums:
        return self._next().write(sink)

    def entries(self) -> Iterator[Entry]:
        return self._next().entries()

    def _next(self) -> Stream:
        return (
            self._remaining_streams.pop(0) if len(self._remaining_streams) > 1 else self._remaining_streams[0]
        )


def _file(name: str, size: int) -> Entry:
    def chunks() -> Iterator[bytes]:
        for start in range(0, size, MIB):
            yield NOISE[: min(MIB, size - start)]

    return Entry(name, size, chunks)


@dataclass(frozen=True)
class UploadBucket:
    """A bucket behind a proxy, whose client gives up soon."""

    s3: S3Client
    proxy: FaultyS3

    @property
    def keys(self) -> list[str]:
        contents = self.s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        return [content["Key"] for content in contents]

    @property
    def uploads(self) -> list[str]:
        """The keys of multipart uploads that are under way."""
        actual_uploads = self.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
        return [actual_upload["Key"] for actual_upload in actual_uploads]

    @property
    def is_empty(self) -> bool:
        return self.keys == [] and self.uploads == []

    def body(self, key: str) -> bytes:
        return self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def upload(self, stream: Stream, place: ObjectPlace = PLACE) -> bool:
        with Uploads(self.s3) as uploads:
            return uploads.archive(place, stream.write, digest=stream.digest, size=stream.size)

    def upload_files(self, *reads: Stream) -> None:
        """Upload the files of the first stream; each time that it is read, it is the next of them."""
        with Uploads(self.s3) as uploads:
            uploads.files(
                BUCKET,
                "p/",
                "p.files",
                Reads(reads),
                digest=reads[0].digest,
                size=max(read.size for read in reads),
            )


@contextmanager
def upload_bucket(url: str) -> Iterator[UploadBucket]:
    """An empty bucket of the S3 at that URL."""
    with faulty_s3(url) as proxy:
        config = UPLOAD_CONFIG.merge(Config(retries={"mode": "standard", "total_max_attempts": 3}))
        s3: S3Client = shared_session("us-east-1").client("s3", endpoint_url=proxy.url, config=config)
        s3.create_bucket(Bucket=BUCKET)
        bucket = UploadBucket(s3, proxy)
        for key in bucket.keys:
            s3.delete_object(Bucket=BUCKET, Key=key)
        for remaining_upload in s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []):
            s3.abort_multipart_upload(
                Bucket=BUCKET, Key=remaining_upload["Key"], UploadId=remaining_upload["UploadId"]
            )
        proxy.requests.clear()
        yield bucket


def is_complete(request: Request) -> bool:
    return request.method == "POST" and "uploadId=" in request.path


def is_create(request: Request) -> bool:
    return request.method == "POST" and request.path.endswith("?uploads")


def is_put(request: Request) -> bool:
    return request.method == "PUT" and "partNumber" not in request.path


def is_abort(request: Request) -> bool:
    return request.method == "DELETE" and "uploadId=" in request.path


def is_part_2(request: Request) -> bool:
    return request.is_part(2)
