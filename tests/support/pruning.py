"""Prunes of a test's artifact bucket, a day after all of it was put."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from artifact_bucket import ArtifactBucket
from fleet.artifacts.prune import Prune
from fleet.artifacts.prune_plan import Plan
from fleet.resolve.resolve import place_of

ROLE = "arn:aws:iam::123456789012:role/test"
HEX = "b" * 64
DIGEST = f"sha256:{HEX}"
"""Of what nobody has published."""


def later(hours: float = 25) -> datetime:
    """When all that a test has put is that old."""
    return datetime.now(UTC) + timedelta(hours=hours)


def work(bucket: ArtifactBucket, keep: int = 10) -> Prune:
    place = place_of(bucket.project.environment)
    return Prune(bucket.s3, bucket.sagemaker, bucket.folder.root, place, keep)


def prune(bucket: ArtifactBucket, keep: int = 10) -> Plan:
    """Plan and remove, a day later."""
    pruning, now = work(bucket, keep), later()
    return pruning.remove(pruning.plan(now), now)


def model(bucket: ArtifactBucket, name: str = "m", **containers: Any) -> None:
    bucket.sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, **containers)
