"""Builds several things in parallel, each one once."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Mapping, Sequence
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
class Builds(Generic[Result]):
    """The results that exist, by key, the keys of those that were built now, and why others are missing."""

    results: Mapping[str, Result]
    new_keys: Sequence[str] = ()
    findings: tuple[Finding, ...] = ()


def run_builds(
    clients: BuildClients,
    project: Project,
    tasks: Mapping[str, BuildTask[Result]],
    results: Mapping[str, Result],
    uploads: Uploads,
    progress: PublishProgress,
    pace: Pace,
) -> Builds[Result]:
    """Add to results; a failure does not stop the other tasks, an interruption stops all, and the uploads.

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

    def build(key: str) -> tuple[Result | None, bool, Sequence[Finding]]:
        try:
            with progress.build(f"{tasks[key].kind} {tasks[key].name}") as tell:
                work = BuildWork(context, tasks[key], tell)
                return work.result(), work.has_built, ()
        except FindingsError as error:
            return None, False, error.findings

    def stop() -> None:
        cancellation.set()
        uploads.cancel()

    outcomes = all_in_parallel(tasks, build, project.environment.engine_builds.at_once, stop)
    keyed_outcomes = list(zip(tasks, outcomes, strict=True))
    return Builds(
        {**results, **{key: result for key, (result, _, _) in keyed_outcomes if result is not None}},
        [key for key, (_, is_new, _) in keyed_outcomes if is_new],
        tuple(finding for _, _, findings in outcomes for finding in findings),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container the user id may have no name
        return str(os.getuid())
