"""The record of an image that was built: its digest, and the facts that its configuration and files show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from botocore.exceptions import ClientError
from pydantic import AwareDatetime, BaseModel, ConfigDict, StringConstraints, ValidationError

from triton_fleet.builds.images.facts import TooManyPathsError, facts_of_config, facts_of_paths, merge
from triton_fleet.builds.images.object_keys import MANIFEST, built_image_key
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.image import ImageFacts, LockedImage, MediaType
from triton_fleet.spec.values import Digest

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MISSING = 404


class BuildRecord(BaseModel):
    """What the build script writes after the push; a copy keeps the keys that are not read here."""

    model_config = ConfigDict(frozen=True, extra="allow")

    key: Digest
    repository: str
    digest: Digest
    base: Annotated[str, StringConstraints(pattern=r"@sha256:[0-9a-f]{64}$")]
    size: int | None = None
    media_type: MediaType | None = None
    config: Mapping[str, Any]
    paths: Sequence[str]
    ended: AwareDatetime


@dataclass(frozen=True)
class BuiltImage:
    """An image in the environment's repository: the record of its build, and the facts of what is inside."""

    record: BuildRecord
    facts: ImageFacts

    @property
    def locked(self) -> LockedImage:
        """As a lock has it, with the digest of the release's image that the build was given."""
        record = self.record
        base = record.base.rpartition("@")[2]
        return LockedImage(key=record.key, base=base, digest=record.digest, facts=self.facts)


def built_image(s3: S3Client, deployment: Deployment, key: str) -> BuiltImage | None:
    """The record of the image of a key; None before it is built, in this repository and no former one.

    Raises:
        FindingsError: its record cannot be read.
        ClientError: access is denied, or the bucket does not exist.
    """
    record = build_record(s3, deployment.bucket, key)
    if record is None or record.repository != deployment.image_repository:
        return None
    try:
        files = facts_of_paths([record.paths])
    except TooManyPathsError as error:
        url = f"s3://{deployment.bucket}/{built_image_key(key, MANIFEST)}"
        raise FindingsError([_malformed(url, str(error))]) from error
    facts = merge(facts_of_config(record.config), files)
    return BuiltImage(record, facts.model_copy(update={"media_type": record.media_type}))


def build_record(s3: S3Client, bucket: str, key: str) -> BuildRecord | None:
    """The record of the last build of a key, in whichever repository it is; errors as `built_image`."""
    record_key = built_image_key(key, MANIFEST)
    try:
        content = s3.get_object(Bucket=bucket, Key=record_key)["Body"].read()
    except ClientError as error:
        if error.response["Error"]["Code"] == "NoSuchKey":
            return None
        raise
    try:
        record = BuildRecord.model_validate_json(content)
    except ValidationError as error:
        problem = str(error.errors()[0]["msg"])
        raise FindingsError([_malformed(f"s3://{bucket}/{record_key}", problem)]) from error
    if record.key != key:
        raise FindingsError([_malformed(f"s3://{bucket}/{record_key}", f"it is the record of {record.key}")])
    return record


def _malformed(url: str, problem: str) -> Finding:
    message = f"{url} is not a valid record of an image: {problem}"
    hint = "delete it, and build the image again (`fleet images build`), which records it again"
    return Finding(code="FL961", message=message, hint=hint)
