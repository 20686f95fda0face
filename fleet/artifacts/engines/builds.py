"""Builds the engines that the bucket lacks, several in parallel, each one once."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event

from fleet.artifacts.builds.clients import EngineClients
from fleet.artifacts.builds.work import BuildContext, EngineWork, Pace
from fleet.artifacts.engines.inputs import BuildInputs
from fleet.artifacts.engines.request import StoredPlan, WantedEngine
from fleet.artifacts.progress import PublishProgress
from fleet.artifacts.upload.archives import Uploads
from fleet.core.parallel import all_in_parallel
from fleet.endpoint.resolved_endpoint import Deployment
from fleet.findings import Finding, FindingsError
from fleet.spec.project import Project

PACE = Pace()


@dataclass(frozen=True)
class EngineOutcome:
    """The result for one engine: its plan, whether it was built for this publish, or why there is none."""

    engine: WantedEngine
    plan: StoredPlan | None = None
    was_built: bool = False
    findings: tuple[Finding, ...] = ()


def build_engines(
    clients: EngineClients,
    place: Deployment,
    project: Project,
    engines: Sequence[WantedEngine],
    progress: PublishProgress,
    pace: Pace = PACE,
) -> list[EngineOutcome]:
    """Build these engines; a failure does not stop the others, an interruption stops all.

    Raises:
        CannotRunError: Foundation has no build projects, or the account's quota of builds is used up.
        ClientError: AWS refuses.
    """
    settings, cancelled = project.environment.engine_builds, Event()
    with Uploads(clients.s3) as uploads, progress.engines(len(engines)):
        shared = BuildContext(
            clients=clients,
            inputs=BuildInputs(clients, place, project, uploads),
            bucket=place.bucket,
            holder=f"{_user()}@{socket.gethostname()}, process {os.getpid()}",
            seconds=settings.timeout,
            pace=pace,
            cancelled=cancelled,
        )

        def built(engine: WantedEngine) -> EngineOutcome:
            try:
                with progress.engine(engine.first.name) as tell:
                    work = EngineWork(shared, engine, tell)
                    return EngineOutcome(engine, work.plan(), work.has_built)
            except FindingsError as error:
                return EngineOutcome(engine, findings=tuple(error.findings))

        def stop() -> None:
            cancelled.set()
            uploads.cancel()

        return all_in_parallel(engines, built, settings.at_once, stop)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container the user id may have no name
        return str(os.getuid())
