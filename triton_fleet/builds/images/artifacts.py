"""An image in the artifact bucket: its key, its objects, and its build context as a tar stream."""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from triton_fleet.builds.images.context import CHUNK, BuildContext, ContextEntry, changed_file, folders_of
from triton_fleet.builds.images.dockerfile import DOCKERFILE
from triton_fleet.core.formats import canonical_digest
from triton_fleet.core.tar_writer import Sink, write_end, write_member
from triton_fleet.findings import FindingsError
from triton_fleet.spec.image import PLATFORM
from triton_fleet.spec.values import hexadecimal

FORMAT_VERSION = 1
"""Another number is another digest of every context."""
FILE_MODE, EXECUTABLE_MODE, LINK_MODE = 0o644, 0o755, 0o777


def context_digest(context: BuildContext) -> str:
    """`sha256:` and the digest of what the build can read: the Dockerfile, paths, contents, modes and links.

    A .dockerignore file counts only where COPY finds it: what it keeps out, the listing shows.
    """
    lines = [
        [entry.path, "link", entry.target] if entry.target else [entry.path, _mode(entry), entry.digest]
        for entry in context.entries
        if entry.ignored_by is None or entry.path == DOCKERFILE
    ]
    # A Dockerfile that COPY does not find is another context than one that it does.
    excluded_paths = [
        entry.path for entry in context.entries if entry.ignored_by and entry.path == DOCKERFILE
    ]
    canonical = json.dumps(
        {"entries": lines, "format": FORMAT_VERSION, "hidden": excluded_paths}, sort_keys=True
    )
    return f"sha256:{hashlib.sha256(canonical.encode()).hexdigest()}"


def write_context(context: BuildContext, sink: Sink) -> None:
    """Write the tar stream of a context: folders first, then files and links, without times and owners.

    Raises:
        FindingsError: a file changed since the context was read, or can no longer be read.
    """
    size = 0
    for folder in sorted(folders_of({entry.path: entry for entry in context.entries})):
        size += write_member(sink, folder, tarfile.DIRTYPE, EXECUTABLE_MODE)
    for entry in context.entries:
        if entry.target:
            size += write_member(sink, entry.path, tarfile.SYMTYPE, LINK_MODE, target=entry.target)
            continue
        chunks = _chunks(context.folder / entry.path, entry)
        size += write_member(sink, entry.path, tarfile.REGTYPE, _mode(entry), size=entry.size, chunks=chunks)
    write_end(size, sink)


def _mode(entry: ContextEntry) -> int:
    return EXECUTABLE_MODE if entry.executable else FILE_MODE


def _chunks(file: Path, entry: ContextEntry) -> Iterator[bytes]:
    """The content of a file, which is that of its digest.

    Raises:
        FindingsError: it is not.
    """
    digest, size = hashlib.sha256(), 0
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb", buffering=0) as content:
            while size < entry.size and (chunk := content.read(min(CHUNK, entry.size - size))):
                digest.update(chunk)
                size += len(chunk)
                yield chunk
            is_longer = bool(content.read(1))
    except OSError as error:
        raise FindingsError([changed_file(file, f"can no longer be read: {error.strerror}")]) from error
    if is_longer or size != entry.size or f"sha256:{digest.hexdigest()}" != entry.digest:
        raise FindingsError([changed_file(file, "changed since the build context was read")])


def image_key(context_digest: str, base: str, arguments: Mapping[str, str]) -> str:
    """`sha256:` and the digest of what an image is built from.

    Args:
        context_digest: Of the Dockerfile and its build context.
        base: The image that the build passes as TRITON_IMAGE, without its registry and with its digest.
        arguments: The build arguments of the spec; their order does not matter.
    """
    inputs = {
        "architecture": PLATFORM,
        "arguments": dict(arguments),
        "base": base,
        "context": context_digest,
        "format": FORMAT_VERSION,
    }
    return canonical_digest(inputs)


IMAGES = "images/"
"""The prefix of all of it."""
CONTEXTS = f"{IMAGES}contexts/"
"""The prefix of build contexts."""
BUILDS = f"{IMAGES}built/"
"""The prefix of the records of builds, and of the requests to them."""
MANIFEST, REQUEST, FAILURE, DRAFT = "manifest.json", "request.json", "failure.json", "draft.json"


def context_key(digest: str) -> str:
    """The build context of a digest: a tar file."""
    return f"{CONTEXTS}{hexadecimal(digest)}.tar"


def built_image_key(key: str, name: str) -> str:
    """One of an image's files: REQUEST, DRAFT, then MANIFEST, which shows that it was pushed; or FAILURE."""
    return f"{BUILDS}{hexadecimal(key)}/{name}"


def image_lease_key(key: str) -> str:
    """Who builds an image now."""
    return f"{IMAGES}leases/{hexadecimal(key)}.json"
