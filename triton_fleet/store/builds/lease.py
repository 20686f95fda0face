"""A lease to build or to deploy something: an object in the bucket, so that only one of several does it.

Its expiry follows from the times in S3's own answers: clocks of its holders do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from botocore.exceptions import ClientError
from pydantic import TypeAdapter, ValidationError

from triton_fleet.awsapi.errors import (
    CONFLICT,
    NOT_FOUND,
    PRECONDITION_FAILED,
    SuppressErrors,
    answered_at,
    http_status,
)
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The content of a lease.

    Attributes:
        holder: Who has it, for people.
        token: Identifies the holder's attempt, which finds its own lease by it.
        seconds: How long it is valid after it was written.
        build: The id of the running build; "" before there is one.
    """

    holder: str
    token: str
    seconds: int
    build: str = ""


AnyTerms = TypeVar("AnyTerms", bound=Terms)


@dataclass(frozen=True, kw_only=True)
class SeenLease(Generic[AnyTerms]):
    """A lease as it was read; `lifetime` is for how many seconds it is valid, none or less if it expired.

    `write_time` is when it was taken, renewed or ended last.
    """

    terms: AnyTerms
    etag: str
    lifetime: float
    write_time: datetime

    @property
    def is_expired(self) -> bool:
        """Whether its holder is gone."""
        return self.lifetime <= 0


class LostError(Exception):
    """Another holder has taken the lease."""


class Lease(Generic[AnyTerms]):
    """One holder's lease on one build, or on one stack.

    All methods raise ClientError if S3 refuses for another reason.
    """

    def __init__(self, s3: S3Client, bucket: str, key: str, terms: AnyTerms) -> None:
        self._s3, self._bucket, self._key = s3, bucket, key
        self._terms, self._etag = terms, ""
        self._content, self._longest = TypeAdapter(type(terms)), terms.seconds

    def take(self) -> bool:
        """Take it if it is free; return whether that succeeded."""
        return self._write(IfNoneMatch="*")

    def current(self) -> SeenLease[AnyTerms] | None:
        """The current lease; None if it is free.

        Raises:
            CannotRunError: the object is not a lease.
        """
        try:
            answer = self._s3.get_object(Bucket=self._bucket, Key=self._key)
        except ClientError as error:
            if http_status(error) == NOT_FOUND:
                return None
            raise
        try:
            terms = self._content.validate_json(answer["Body"].read())
        except ValidationError as error:
            problem = f"s3://{self._bucket}/{self._key} is not a lease: {error.errors()[0]['msg']}"
            remedy = "delete it if nobody deploys or builds, then run the command again"
            raise CannotRunError(problem, remedy) from error
        # A lease from the future has expired too: the embedded S3 uses this machine's clock, which may jump.
        age = abs(answered_at(answer) - answer["LastModified"])
        # Whoever may write to the bucket could write any time: no lease lasts longer than one's own.
        lifetime = max(0, min(terms.seconds, self._longest)) - age.total_seconds()
        return SeenLease(
            terms=terms, etag=answer["ETag"], lifetime=lifetime, write_time=answer["LastModified"]
        )

    def take_over(self, current: SeenLease[AnyTerms], build: str = "") -> bool:
        """Take over an expired lease with its running build; return whether no one else was faster."""
        self._etag, before = current.etag, self._etag
        try:
            self.renew(build)
        except LostError:
            self._etag = before
            return False
        return True

    def renew(self, build: str = "") -> None:
        """Renew it, with the id of the running build.

        Raises:
            LostError: another has it by now.
        """
        self._terms = replace(self._terms, build=build)
        if not self._write(IfMatch=self._etag):
            raise LostError

    def expire(self) -> None:
        """End it without a right to delete it: its content stays.

        Raises:
            LostError: another has it by now.
        """
        self._terms = replace(self._terms, seconds=0)
        self.renew(self._terms.build)

    def release(self) -> None:
        """Release it, unless another publisher has it by now."""
        with SuppressErrors(NOT_FOUND, PRECONDITION_FAILED, CONFLICT):
            self._s3.delete_object(Bucket=self._bucket, Key=self._key, IfMatch=self._etag)

    def _write(self, **condition: Any) -> bool:
        """Write the terms on a condition; return whether they were written."""
        request: Any = {
            "Bucket": self._bucket,
            "Key": self._key,
            "Body": self._content.dump_json(self._terms),
        }
        with SuppressErrors(NOT_FOUND, PRECONDITION_FAILED, CONFLICT):
            self._etag = self._s3.put_object(**request, **condition)["ETag"]
            return True
        # If an answer was lost, botocore has retried, and the existing object is our own.
        current = self.current()
        if current is None or current.terms != self._terms:
            return False
        self._etag = current.etag
        return True
