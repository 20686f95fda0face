"""Prunes of a test's artifact bucket, a day after all of it was put."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from tests.support.artifact_bucket import ArtifactBucket
from triton_fleet.store.prune.plan import Plan
from triton_fleet.store.prune.prune import Prune

ROLE = "arn:aws:iam::123456789012:role/test"
HEX = "b" * 64
DIGEST = f"sha256:{HEX}"
"""Of what nobody has published."""


def later(hours: float = 25) -> datetime:
    """When all that a test has put is that old."""
    return datetime.now(UTC) + timedelta(hours=hours)


def work(
    bucket: ArtifactBucket, keep: int = 10, *, moment: datetime | None = None, clock: datetime | None = None
) -> Prune:
    """A prune at a moment by S3's clock, a day later unless it is given, and by the machine's."""
    moment = moment or later()
    date_answers(bucket, format_datetime(moment.astimezone(UTC), usegmt=True))
    deployment = bucket.project.deployment
    root = bucket.folder.root
    return Prune(
        bucket.s3, bucket.sagemaker, bucket.ecr, root, deployment, keep, clock=lambda: clock or moment
    )


def date_answers(bucket: ArtifactBucket, date: str) -> None:
    """Have the embedded S3 give its listings this date."""

    def date_object(parsed: dict[str, Any], **_: object) -> None:
        parsed["ResponseMetadata"]["HTTPHeaders"]["date"] = date

    events = bucket.s3.meta.events
    events.unregister("after-call.s3.ListObjectsV2", unique_id="date")
    events.register("after-call.s3.ListObjectsV2", date_object, unique_id="date")


def prune(bucket: ArtifactBucket, keep: int = 10) -> Plan:
    """Plan and remove, a day later."""
    pruning = work(bucket, keep)
    return pruning.remove(pruning.plan())


def model(bucket: ArtifactBucket, name: str = "m", **containers: Any) -> None:
    bucket.sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, **containers)
