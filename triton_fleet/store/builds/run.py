"""Builds several things in parallel, each one once."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Generic

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.store.builds.codebuild import BuildClients
from triton_fleet.store.builds.work import BuildContext, BuildTask, BuildWork, Pace, Result
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.upload.archives import Uploads

PACE = Pace()


@dataclass(frozen=True)
class BuildOutcome(Generic[Result]):
    """The outcome of one task: its result, whether it was built for this publish, or why there is none."""

    result: Result | None = None
    is_new: bool = False
    findings: tuple[Finding, ...] = ()


def run_builds(
    clients: BuildClients,
    project: Project,
    tasks: Sequence[BuildTask[Result]],
    uploads: Uploads,
    progress: PublishProgress,
    pace: Pace,
) -> list[BuildOutcome[Result]]:
    """Build these; a failure does not stop the others, an interruption stops all, and the uploads.

    Raises:
        CannotRunError: Foundation has no build projects, or the account's quota of builds is used up.
        ClientError: AWS refuses.
    """
    cancellation = Event()
    context = BuildContext(
        clients=clients,
        bucket=project.deployment.bucket,
        holder=f"{_user()}@{socket.gethostname()}, process {os.getpid()}",
        pace=pace,
        cancellation=cancellation,
    )

    def outcome(task: BuildTask[Result]) -> BuildOutcome[Result]:
        try:
            with progress.build(f"{task.kind} {task.name}") as tell:
                work = BuildWork(context, task, tell)
                return BuildOutcome(work.result(), work.has_built)
        except FindingsError as error:
            return BuildOutcome(findings=tuple(error.findings))

    def stop() -> None:
        cancellation.set()
        uploads.cancel()

    return all_in_parallel(tasks, outcome, project.environment.engine_builds.at_once, stop)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container the user id may have no name
        return str(os.getuid())
