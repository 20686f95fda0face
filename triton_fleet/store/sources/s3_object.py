"""Objects of S3 as streams of bytes: one content from the first byte to the last, or refused.

botocore is imported where S3 is read: `fleet check` loads this module, and runs without it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NotRequired, TypedDict

from triton_fleet.awsapi.errors import PRECONDITION_FAILED, http_status
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.spec.source import Mark, finding_at

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

CHUNK, ATTEMPTS = 1 << 20, 5
"""Bytes of one read; how many breaks of the connection in a row, with nothing read between, are an error."""
NO_OBJECT_CODES = {
    "NoSuchBucket": "the bucket does not exist",
    "NoSuchKey": "the object does not exist",
    "404": "the object does not exist",
}
"""By code; 404 is for an answer without a body, to a HEAD request."""
HINT = "wait until its writer has finished, then run the command again"


@dataclass(frozen=True, kw_only=True)
class S3Location:
    """An object or a prefix of S3, and the place of the spec that names it in the key `said_by`."""

    bucket: str
    key: str
    mark: Mark
    said_by: str = "repository"

    @property
    def url(self) -> str:
        """The URL, as in a spec."""
        return f"s3://{self.bucket}/{self.key}"


class _Conditions(TypedDict):
    IfMatch: NotRequired[str]
    Range: NotRequired[str]


def object_chunks(
    s3: S3Client, location: S3Location, etag: str | None = None, size: int | None = None
) -> Iterator[bytes]:
    """The bytes of an object; after a broken connection the rest is requested.

    Without `etag` and `size` in bytes, the first request decides which version is read.

    Raises:
        FindingsError: it does not exist, or is replaced while it is read.
        CannotRunError: access is denied, or S3 does not answer.
    """
    from botocore.exceptions import HTTPClientError, IncompleteReadError

    at = failures = 0
    while size is None or at < size:
        conditions: _Conditions = {} if etag is None else {"IfMatch": etag}
        if at:
            conditions["Range"] = f"bytes={at}-"
        with s3_errors_as_findings(location):
            answer = s3.get_object(Bucket=location.bucket, Key=location.key, **conditions)
            etag = answer["ETag"]
            size = answer["ContentLength"] if size is None else size
            try:
                for chunk in answer["Body"].iter_chunks(CHUNK):
                    at, failures = at + len(chunk), 0
                    yield chunk
            except (HTTPClientError, IncompleteReadError):
                failures += 1
                if failures == ATTEMPTS:
                    raise
            finally:
                answer["Body"].close()


@contextmanager
def s3_errors_as_findings(location: S3Location) -> Iterator[None]:
    """Read from S3.

    Raises:
        FindingsError: what the spec names does not exist, or is replaced while it is read.
        CannotRunError: access is denied, there are no credentials, or S3 does not answer.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    mark = location.mark
    try:
        yield
    except ClientError as error:
        code = error.response["Error"].get("Code", "")
        if code in NO_OBJECT_CODES:
            hint = f"correct `{location.said_by}`, or upload it there"
            raise FindingsError(
                [finding_at(mark, "FL309", f"{location.url}: {NO_OBJECT_CODES[code]}", hint)]
            ) from error
        if http_status(error) == PRECONDITION_FAILED:
            message = f"{location.url} changed while it was read"
            raise FindingsError([finding_at(mark, "FL305", message, HINT)]) from error
        remedy = "use credentials that may list and read it: pass them with --profile"
        raise CannotRunError(
            f"{mark.file}:{mark.line}: {location.url}: S3 refuses: {error}", remedy
        ) from error
    except BotoCoreError as error:
        problem = f"{mark.file}:{mark.line}: {location.url} cannot be read: {error}"
        raise CannotRunError(problem, "check your credentials and this machine's network") from error


def compare_digest(location: S3Location, spec_digest: str | None, digest: str) -> None:
    """Check that a repository has the content that its spec expects.

    Raises:
        FindingsError: it does not, or the spec has no digest.
    """
    if digest == spec_digest:
        return
    hint = f"write `digest: {digest}`"
    if spec_digest is None:
        message = f"the content of {location.url} may change: the spec must have its digest"
        raise FindingsError([finding_at(location.mark, "FL308", message, hint)])
    message = f"{location.url} has {digest}; the spec expects {spec_digest}"
    hint = f"{hint} to use the new content, else restore the expected content"
    raise FindingsError([finding_at(location.mark, "FL307", message, hint)])
