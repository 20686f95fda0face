"""Findings for engines that were not built, at the line of the spec that needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError
from pydantic import BaseModel, ConfigDict, ValidationError

from fleet.artifacts.builds.codebuild import SUCCEEDED, TIMED_OUT, Build
from fleet.artifacts.engines.request import EngineUse, WantedEngine
from fleet.engines.object_keys import FAILURE, MANIFEST, built_key
from fleet.findings import Finding
from fleet.spec.source import finding_at

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MACHINE, MODEL, MEMORY, TIME, CHANGED, REFUSED, STOPPED, UNKNOWN = (
    "FL375",
    "FL376",
    "FL377",
    "FL378",
    "FL373",
    "FL379",
    "FL380",
    "FL381",
)
CODES = {
    10: MACHINE,
    11: MACHINE,
    12: MACHINE,
    13: MACHINE,
    14: CHANGED,
    15: MODEL,
    16: MEMORY,
    17: TIME,
    18: MODEL,
    19: MODEL,
    20: REFUSED,
    21: STOPPED,
}
"""By the exit code of the build script, which engine_build/engine_request/problems.py explains."""
MAX_LINES = 5
"""How many last lines of the log are in a message."""
MISSING = 404


class Failure(BaseModel):
    """What the build script writes to the bucket if it fails."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    exit_code: int
    problem: str
    message: str
    remedy: str
    log: tuple[str, ...] = ()
    by: str = ""
    """The id of the build; "" if the script did not know it."""


def told_failure(s3: S3Client, bucket: str, key: str, build: str) -> Failure | None:
    """The failure that a build of an engine recorded; None if it recorded none.

    Failures of other builds are ignored: one that was stopped can still write its own for some minutes.

    Raises:
        ClientError: access is denied.
    """
    try:
        found = s3.get_object(Bucket=bucket, Key=built_key(key, FAILURE))["Body"].read()
    except ClientError as error:
        if error.response["ResponseMetadata"]["HTTPStatusCode"] == MISSING:
            return None
        raise
    try:
        failure = Failure.model_validate_json(found)
    except ValidationError:
        return None
    return failure if failure.by in ("", build) else None


def failure_findings(
    engine: WantedEngine, build: Build, failure: Failure | None, log: Sequence[str]
) -> list[Finding]:
    """The findings for a build that ended without an engine, at each line that needs it."""
    where = build.link or f"{build.log_group}, stream {build.log_stream}"
    code, reason, remedy, lines = _describe_failure(engine, build, failure)
    shown = list(lines or log)[-MAX_LINES:]
    quoted = "".join(f"\n    {line}" for line in shown if line not in reason)
    hint = "; ".join(filter(None, (remedy, f"the full log is in {where}")))
    return [
        finding_at(
            use.engine.mark,
            code,
            f"no engine of model {use.engine.model!r} was built: {reason}{quoted}",
            hint,
        )
        for use in _distinct_uses(engine)
    ]


def _describe_failure(
    engine: WantedEngine, build: Build, failure: Failure | None
) -> tuple[str, str, str, tuple[str, ...]]:
    if failure is not None:
        code = CODES.get(failure.exit_code, UNKNOWN)
        return code, f"{failure.problem}: {failure.message}", failure.remedy, failure.log
    if build.status == TIMED_OUT:
        remedy = "raise `engine_builds.timeout` of the environment"
        return TIME, "CodeBuild stopped the build at its timeout", remedy, ()
    if build.status == SUCCEEDED:
        manifest = f"s3://{engine.first.endpoint.place.bucket}/{built_key(engine.key, MANIFEST)}"
        remedy = f"delete {manifest} if it exists without its plan, and publish again"
        return UNKNOWN, "the build succeeded without writing an engine", remedy, ()
    reason = f": {build.reason}" if build.reason else ""
    return UNKNOWN, f"the build is {build.status} and gave no reason{reason}", "", ()


def _distinct_uses(engine: WantedEngine) -> list[EngineUse]:
    """One use for each line of the specs: copies share a line."""
    return list({use.engine.mark: use for use in engine.uses}.values())
