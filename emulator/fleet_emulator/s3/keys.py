"""moto's objects with our contents: moto makes them empty, and keeps its own copy of every byte otherwise."""

from __future__ import annotations

import hashlib
from typing import Any, cast

from moto.s3.exceptions import InvalidArgumentError
from moto.s3.models import FakeKey

from fleet_emulator.s3.checksums import Checksum
from fleet_emulator.s3.content import Content, ContentFile


def fill(key: FakeKey, content: Content) -> None:
    """Give an empty object its content, and its ETag where it has none."""
    key._value_buffer.close()
    key._value_buffer = cast(Any, ContentFile(content))
    key.contentsize = len(content)
    cast(Any, key).__deepcopy__ = lambda _memo: _alike(key)
    if key._etag is None:
        md5 = hashlib.md5(usedforsecurity=False)
        for block in content:
            md5.update(block)
        key._etag = md5.hexdigest()


class _Listed(FakeKey):
    def __del__(self) -> None:
        """The content is the object's that was listed: there is nothing to give back."""


def _alike(key: FakeKey) -> FakeKey:
    """Another object of that content: to list versions, moto copies a whole bucket, bytes included."""
    alike = object.__new__(_Listed)
    alike.__dict__.update(key.__dict__)
    return alike


def content_of(key: FakeKey) -> Content:
    """The content of an object that was filled."""
    return cast(ContentFile, key._value_buffer).content


def note(key: FakeKey, checksum: Checksum | None, checksum_type: str) -> None:
    """Give an object its checksum; moto keeps the number of parts beside it."""
    key.checksum_algorithm = checksum.algorithm if checksum else None
    key.checksum_type = checksum_type if checksum else None
    key.checksum_value, _, parts = checksum.value.partition("-") if checksum else (None, "", "")
    key.checksum_parts = int(parts) if parts else None


def checksum_headers(key: FakeKey) -> Checksum | None:
    """The checksum of an object, as headers have it."""
    if not key.checksum_algorithm or not key.checksum_value:
        return None
    parts = "" if key.checksum_parts is None else f"-{key.checksum_parts}"
    return Checksum(key.checksum_algorithm, f"{key.checksum_value}{parts}")


def copy_range(source: FakeKey, asked: str) -> Content:
    """What UploadPartCopy copies: all of an object, or the range `bytes=FIRST-LAST`.

    Raises:
        InvalidArgumentError: the object has no such range.
    """
    content = content_of(source)
    if not asked:
        return content
    first, _, last = asked.removeprefix("bytes=").partition("-")
    if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last) < len(content)):
        message = f"Range specified is not valid for source object of size: {len(content)}"
        raise InvalidArgumentError(message, "x-amz-copy-source-range", asked)
    return content[int(first) : int(last) + 1]


class OpenObject:
    """An object to be sent: its value is its content, of which moto sends the range that is asked for."""

    def __init__(self, key: FakeKey) -> None:
        self._key = key

    @property
    def value(self) -> Content:
        """What moto measures, slices and gives to the web server."""
        return content_of(self._key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._key, name)
