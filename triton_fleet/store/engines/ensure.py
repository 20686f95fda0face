"""Ensures that engines are in the bucket: builds the missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.findings import Finding
from triton_fleet.project.project import Project
from triton_fleet.store.archive_requirements import Content
from triton_fleet.store.builds.clients import Builders
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.engines.builds import build_engines
from triton_fleet.store.engines.request import StoredPlan, WantedEngine, engines_in, stored_plans
from triton_fleet.store.progress import PublishProgress

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True, kw_only=True)
class BucketEngines:
    """The plans in the bucket by key, how many were built, and why others are missing."""

    plans: Mapping[str, StoredPlan]
    built: int
    findings: tuple[Finding, ...]

    def has_all_of(self, content: Content) -> bool:
        """Whether all engines of a content exist."""
        return all(engine.build.key in self.plans for engine in engines_in(content.wanted[0]))


def ensure_engines(
    s3: S3Client,
    project: Project,
    engines: Sequence[WantedEngine],
    progress: PublishProgress,
    builders: Builders,
    pace: Pace,
) -> BucketEngines:
    """Build the engines that the bucket lacks; services other than S3 are called only if one is missing.

    Raises:
        CannotRunError: engines cannot be built in this account now.
        ClientError: AWS refuses.
    """
    plans = stored_plans(s3, project.deployment.bucket, engines)
    lacking = [engine for engine in engines if engine.key not in plans]
    outcomes = build_engines(builders(), project, lacking, progress, pace) if lacking else []
    built = {
        engine.key: each.result
        for engine, each in zip(lacking, outcomes, strict=True)
        if each.result is not None
    }
    return BucketEngines(
        plans={**plans, **built},
        built=sum(outcome.was_built for outcome in outcomes),
        findings=tuple(finding for outcome in outcomes for finding in outcome.findings),
    )
