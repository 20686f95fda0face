"""The work: engines first, then the files below the prefix, then the marker that all of them exist."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from .bucket import Bucket
from .builds import Builds
from .copies import Range, copy_range, whole
from .errors import PendingError
from .repository import repository_files
from .request import Place, Request

SPARE_SECONDS = 120.0
"""With less time left, the next look copies the next file."""


def assemble(request: Request, s3: Any, builds: Builds, spare_time: Callable[[], float]) -> str:
    """Do what is left to do; the sentence that reports it.

    What exists is not made again: neither an engine nor a file of the model data.

    Args:
        request: What is wanted.
        s3: A client of S3.
        builds: The builds of engines.
        spare_time: The seconds that this look may still take.

    Raises:
        PendingError: something is under way.
        AssemblyError: an engine cannot be built.
        ClientError, BotoCoreError: AWS refuses or does not answer.
    """
    bucket = Bucket(s3, request.bucket)
    if bucket.head(request.marker) is not None:
        return f"{request.url} is complete already."
    progress = [
        builds.ensure(engine) for engine in request.engines if bucket.head(engine.request.manifest) is None
    ]
    if progress:
        raise PendingError("; ".join(progress))
    sizes = _copy_files(request, bucket, spare_time)
    bucket.write(request.marker, json.dumps(sizes).encode())
    return f"{request.url} has {len(sizes)} files, {len(request.engines)} of them engines."


def _copy_files(request: Request, bucket: Bucket, spare_time: Callable[[], float]) -> dict[str, int]:
    """Copy the files that the prefix lacks; the sizes of all of them, by path."""
    stored_keys, sizes = set(bucket.keys(request.prefix)), dict[str, int]()
    for path, content in _files(request, bucket):
        key = f"{request.prefix}{path}"
        if key not in stored_keys:
            if spare_time() < SPARE_SECONDS:
                raise PendingError(f"{len(sizes)} files are copied to {request.url}")
            copy_range(bucket.s3, content, Place(bucket.name, key))
        sizes[path] = content.size
    return sizes


def _files(request: Request, bucket: Bucket) -> Iterator[tuple[str, Range]]:
    """The files of the repository and the plans of its engines."""
    yield from repository_files(bucket.s3, request.repository)
    for engine in request.engines:
        yield engine.path, whole(bucket.s3, Place(bucket.name, engine.request.plan))
