"""Ensures that engines are in the bucket: builds the missing ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.findings import Finding
from triton_fleet.project.project import Project
from triton_fleet.store.archive_requirements import Content
from triton_fleet.store.builds.codebuild import BuildClients, Builders
from triton_fleet.store.builds.run import BuildOutcome, run_builds
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.engines.inputs import BuildInputs
from triton_fleet.store.engines.request import StoredPlan, WantedEngine, engines_in, stored_plans
from triton_fleet.store.engines.task import EngineTask
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.upload.archives import Uploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True, kw_only=True)
class BucketEngines:
    """The plans in the bucket by key, how many were built, and why others are missing."""

    plans: Mapping[str, StoredPlan]
    new_count: int
    findings: tuple[Finding, ...]

    def has_all_of(self, content: Content) -> bool:
        """Whether all engines of a content exist."""
        return all(engine.build.key in self.plans for engine in engines_in(content.requirements[0]))


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
    absent = [engine for engine in engines if engine.key not in plans]
    outcomes = build_engines(builders(), project, absent, progress, pace) if absent else []
    new_plans = {
        engine.key: build_outcome.result
        for engine, build_outcome in zip(absent, outcomes, strict=True)
        if build_outcome.result is not None
    }
    return BucketEngines(
        plans={**plans, **new_plans},
        new_count=sum(outcome.is_new for outcome in outcomes),
        findings=tuple(finding for outcome in outcomes for finding in outcome.findings),
    )


def build_engines(
    clients: BuildClients,
    project: Project,
    engines: Sequence[WantedEngine],
    progress: PublishProgress,
    pace: Pace,
) -> list[BuildOutcome[StoredPlan]]:
    """Build these engines, in their order; a failure does not stop the others, an interruption stops all.

    Raises:
        CannotRunError: Foundation has no build projects, or the account's quota of builds is used up.
        ClientError: AWS refuses.
    """
    timeout, bucket = project.environment.engine_builds.timeout, project.deployment.bucket
    with Uploads(clients.s3) as uploads, progress.builds():
        inputs = BuildInputs(clients, project, uploads)
        tasks = [EngineTask(clients, bucket, inputs, engine, timeout) for engine in engines]
        return run_builds(clients, project, tasks, uploads, progress, pace)
