"""The contract of `locks/ENV/ENDPOINT.lock.yaml`: what an environment runs, known before it is built."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from fleet.spec.values import Document, ModelName, Name

Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]


class LockedArchive(Document):
    """One archive as it was when the lock was written."""

    digest: Digest
    """Of the tar stream, before compression."""
    size: Annotated[int, Field(ge=0)]
    """Of the tar stream, in bytes."""
    models: Annotated[tuple[ModelName, ...], Field(strict=False)]
    """The model directories inside."""


class Lock(Document):
    """What one environment runs behind one endpoint."""

    endpoint: Name
    archives: dict[Name, LockedArchive]
