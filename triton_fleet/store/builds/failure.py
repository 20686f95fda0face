"""Why a build has ended without a result, as its script recorded it or as CodeBuild knows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, ValidationError

from triton_fleet.findings import Finding
from triton_fleet.spec.source import Mark, finding_at
from triton_fleet.store.builds.codebuild import SUCCEEDED, TIMED_OUT, Build
from triton_fleet.store.content_store import read_object

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MAX_LINES = 5
"""How many last lines of the log are in a message."""


class Failure(BaseModel):
    """The failure that the build script writes to the bucket."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    exit_code: int
    problem: str
    message: str
    remedy: str
    log: tuple[str, ...] = ()
    by: str = ""
    """The id of the build; "" if the script did not know it."""


TIMEOUT = "`engine_builds.timeout` of the environment"


@dataclass(frozen=True, kw_only=True)
class FailureTerms:
    """How failures of one sort of build are reported.

    Attributes:
        codes: The rule's code by the exit code of the build script.
        unknown: The code of every other failure.
        late: The code of a build that took too long.
        failure: The key of the object to which the script writes a failure.
        manifest: The key of what a build that succeeds writes last.
        subject: What is built: `an engine`.
    """

    codes: Mapping[int, str]
    unknown: str
    late: str
    failure: str
    manifest: str
    subject: str


def failure_findings(
    s3: S3Client,
    bucket: str,
    build: Build,
    log: Sequence[str],
    terms: FailureTerms,
    messages: Mapping[Mark, str],
) -> list[Finding]:
    """The findings for a build that ended without a result, with the last lines of its log.

    `messages` are what was not built, at each place that needs it.

    Raises:
        ClientError: access is denied.
    """
    failure = _read_failure(s3, bucket, terms.failure, build.id)
    code, reason, remedy, lines = _describe(build, failure, bucket, terms)
    last_lines = list(lines or log)[-MAX_LINES:]
    quotation = "".join(f"\n    {line}" for line in last_lines if line not in reason)
    log_location = build.link or f"{build.log_group}, stream {build.log_stream}"
    hint = "; ".join(filter(None, (remedy, f"the full log is in {log_location}")))
    return [
        finding_at(mark, code, f"{message}: {reason}{quotation}", hint) for mark, message in messages.items()
    ]


def _read_failure(s3: S3Client, bucket: str, key: str, build: str) -> Failure | None:
    """The failure that a build recorded in an object; None if it recorded none.

    Failures of other builds are ignored: one that was stopped can still write its own for some minutes.

    Raises:
        ClientError: access is denied.
    """
    with suppress(ValidationError):
        failure = Failure.model_validate_json(read_object(s3, bucket, key) or b"")
        return failure if failure.by in ("", build) else None
    return None


def _describe(
    build: Build, failure: Failure | None, bucket: str, terms: FailureTerms
) -> tuple[str, str, str, tuple[str, ...]]:
    if failure is not None:
        code = terms.codes.get(failure.exit_code, terms.unknown)
        return code, f"{failure.problem}: {failure.message}", failure.remedy, failure.log
    if build.status == TIMED_OUT:
        return terms.late, "CodeBuild stopped the build at its timeout", f"raise {TIMEOUT}", ()
    if build.status == SUCCEEDED:
        remedy = f"delete s3://{bucket}/{terms.manifest} if it exists without its result, and publish again"
        return terms.unknown, f"the build succeeded without writing {terms.subject}", remedy, ()
    reason = f": {build.reason}" if build.reason else ""
    return terms.unknown, f"the build ended with the status {build.status}{reason}", "", ()
