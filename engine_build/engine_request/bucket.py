"""The artifact bucket, as a build reads and writes it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

NOT_FOUND_STATUS, CONFLICT_STATUS, PRECONDITION_STATUS = 404, 409, 412
MAX_KEYS_PER_DELETE = 1000
"""Objects that S3 deletes by one call."""


def status(error: ClientError) -> int:
    """The HTTP status of an error."""
    return int(error.response["ResponseMetadata"]["HTTPStatusCode"])


class TakenError(Exception):
    """Another build was first."""


@dataclass(frozen=True)
class Head:
    """The facts of an object in S3: its bytes, and the `digest` of its metadata, "" without."""

    size: int
    digest: str


class Bucket:
    """One bucket; every method raises ClientError or BotoCoreError where S3 refuses.

    Attributes:
        s3: A client of S3.
        name: The bucket's.
    """

    def __init__(self, s3: Any, name: str) -> None:
        self.s3, self.name = s3, name

    def url(self, key: str) -> str:
        """As the AWS CLI names an object."""
        return f"s3://{self.name}/{key}"

    def read(self, key: str) -> bytes | None:
        """An object; None if there is none."""
        try:
            answer = self.s3.get_object(Bucket=self.name, Key=key)
        except ClientError as error:
            if status(error) == NOT_FOUND_STATUS:
                return None
            raise
        body: bytes = answer["Body"].read()
        return body

    def download(self, key: str, file: Path) -> None:
        """Write an object to a file; parts that break off are asked for again."""
        self.s3.download_file(self.name, key, str(file))

    def head(self, key: str) -> Head | None:
        """The size and the digest of an object; None if there is none."""
        try:
            answer = self.s3.head_object(Bucket=self.name, Key=key)
        except ClientError as error:
            if status(error) == NOT_FOUND_STATUS:
                return None
            raise
        return Head(size=answer["ContentLength"], digest=answer["Metadata"].get("digest", ""))

    def keys(self, prefix: str) -> list[str]:
        """The keys of all objects below a prefix."""
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix)
        return [entry["Key"] for page in pages for entry in page.get("Contents", ())]

    def copy(self, key: str, to: str) -> None:
        """Copy an object of at most 5 GB on the server."""
        self.s3.copy_object(Bucket=self.name, Key=to, CopySource={"Bucket": self.name, "Key": key})

    def delete_prefix(self, prefix: str) -> None:
        """Delete all objects below a prefix, as far as S3 lets it."""
        keys = self.keys(prefix)
        for start in range(0, len(keys), MAX_KEYS_PER_DELETE):
            objects = [{"Key": key} for key in keys[start : start + MAX_KEYS_PER_DELETE]]
            self.s3.delete_objects(Bucket=self.name, Delete={"Objects": objects, "Quiet": True})

    def write(self, key: str, body: bytes, *, only_if_new: bool = False) -> None:
        """Write a small object.

        Raises:
            TakenError: with `only_if_new`, it exists or somebody writes it at this moment.
        """
        condition = {"IfNoneMatch": "*"} if only_if_new else {}
        try:
            self.s3.put_object(Bucket=self.name, Key=key, Body=body, **condition)
        except ClientError as error:
            if only_if_new and status(error) in (PRECONDITION_STATUS, CONFLICT_STATUS):
                raise TakenError(key) from error
            raise
