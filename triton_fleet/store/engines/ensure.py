"""Ensures that engines are in the bucket: builds the missing ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from triton_fleet.project.project import Project
from triton_fleet.store.builds.codebuild import Builders
from triton_fleet.store.builds.run import Builds, run_builds
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.engines.inputs import BuildInputs
from triton_fleet.store.engines.request import StoredPlan, WantedEngine, stored_plans
from triton_fleet.store.engines.task import EngineTask
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.upload.archives import Uploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


def ensure_engines(
    s3: S3Client,
    project: Project,
    engines: Sequence[WantedEngine],
    progress: PublishProgress,
    builders: Builders,
    pace: Pace,
) -> Builds[StoredPlan]:
    """Build the engines that the bucket lacks; services other than S3 are called only if one is missing.

    Raises:
        CannotRunError: Foundation has no build projects, or the account's quota of builds is used up.
        ClientError: AWS refuses.
    """
    plans = stored_plans(s3, project.deployment.bucket, engines)
    absent = [engine for engine in engines if engine.key not in plans]
    if not absent:
        return Builds(plans)
    clients = builders()
    with Uploads(clients.s3) as uploads, progress.builds():
        inputs = BuildInputs(clients, project, uploads)
        tasks = {
            engine.key: EngineTask(clients, project.deployment.bucket, inputs, engine) for engine in absent
        }
        return run_builds(clients, project, tasks, plans, uploads, progress, pace)
