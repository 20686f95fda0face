"""The contract of `locks/ENV/ENDPOINT.lock.yaml`: what an environment runs, known before it is built."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from fleet.spec.values import Digest, Document, ModelName, Name

Checksum = Annotated[str, StringConstraints(pattern=r"^crc32:[0-9a-f]{8}$")]


class LockedArchive(Document):
    """One archive as it was when the lock was written."""

    digest: Digest
    """Of the tar stream, before compression."""
    size: Annotated[int, Field(ge=0)]
    """Of the tar stream, in bytes."""
    models: Annotated[tuple[ModelName, ...], Field(strict=False)]
    """The model directories inside."""


class LockedRepository(Document):
    """What an entry of the spec's `models` was packed from; it names what has changed since."""

    onnx: dict[str, Digest] = Field(default_factory=dict)
    """Digests of the ONNX files, by path."""
    files: dict[str, Checksum] = Field(default_factory=dict)
    """A checksum of each file, by path; those of a folder with many files as one, under `FOLDER/*`."""


class Lock(Document):
    """What one environment runs behind one endpoint."""

    endpoint: Name
    promoted_from: str | None = None
    """The environment in which these archives were tested; the repositories here may have gone on."""
    archives: dict[Name, LockedArchive]
    """By the archive's name, each copy for itself."""
    repositories: dict[Name, LockedRepository] = Field(default_factory=dict)
    """By the name of the entry in the spec's `models`."""
