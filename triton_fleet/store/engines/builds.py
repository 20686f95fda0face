"""Builds the engines that the bucket lacks, several in parallel, each one once."""

from __future__ import annotations

from collections.abc import Sequence

from triton_fleet.project.project import Project
from triton_fleet.store.builds.clients import BuildClients
from triton_fleet.store.builds.run import BuildOutcome, BuildTerms, run_builds
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.engines.inputs import BuildInputs
from triton_fleet.store.engines.request import StoredPlan, WantedEngine
from triton_fleet.store.engines.task import EngineTask
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.upload.archives import Uploads


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
    settings, bucket = project.environment.engine_builds, project.deployment.bucket
    with Uploads(clients.s3) as uploads, progress.builds():
        inputs = BuildInputs(clients, project, uploads)
        tasks = [EngineTask(clients, bucket, inputs, engine, settings.timeout) for engine in engines]
        terms = BuildTerms(at_once=settings.at_once, pace=pace, progress=progress.build, stop=uploads.cancel)
        return run_builds(clients, bucket, tasks, terms)
