"""Handling of a failed upload: it is aborted, and its first error is reported."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.store.upload.object import ObjectWriter


class ContentChangedError(Exception):
    """The content differs from the expected one; nothing of it was published."""

    def __init__(self, found: str) -> None:
        self.found = found
        super().__init__(f"the content is {found}")


@contextmanager
def aborted_on_error(writer: ObjectWriter) -> Iterator[None]:
    """Write an object; on any error it is aborted.

    Raises:
        CannotRunError: S3 has refused it, or did not answer; or it cannot be aborted.
    """
    try:
        yield
    except BaseException as error:
        left = ""
        try:
            writer.abort()
        except (BotoCoreError, ClientError) as failure:
            left = f"; its parts stay until the bucket's lifecycle removes them: {failure}"
        if isinstance(error, BotoCoreError | ClientError):
            remedy = "run the command again: it continues where it stopped"
            raise CannotRunError(f"{writer.place.url} could not be written: {error}{left}", remedy) from error
        if left and isinstance(error, ContentChangedError | FindingsError):
            raise CannotRunError(f"{writer.place.url} could not be written: {error}{left}") from error
        raise
