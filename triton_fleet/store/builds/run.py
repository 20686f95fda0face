"""Builds several things in parallel, each one once."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event
from typing import Generic

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.store.builds.codebuild import BuildClients
from triton_fleet.store.builds.work import BuildContext, BuildTask, BuildWork, Pace, Result
from triton_fleet.store.progress import Tell

PACE = Pace()


@dataclass(frozen=True)
class BuildOutcome(Generic[Result]):
    """The outcome of one task: its result, whether it was built for this publish, or why there is none."""

    result: Result | None = None
    is_new: bool = False
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, kw_only=True)
class BuildTerms:
    """How the builds of one publish run: how many at one time, and where they report.

    Attributes:
        max_parallel: How many.
        pace: How often CodeBuild is asked.
        progress: Around the build of one task, by its name; gives what is called with each line.
        stop: What else is stopped when the publish is interrupted.
    """

    max_parallel: int
    pace: Pace
    progress: Callable[[str], AbstractContextManager[Tell]]
    stop: Callable[[], None]


def run_builds(
    clients: BuildClients, bucket: str, tasks: Sequence[BuildTask[Result]], terms: BuildTerms
) -> list[BuildOutcome[Result]]:
    """Build these; a failure does not stop the others, an interruption stops all.

    Raises:
        CannotRunError: Foundation has no build projects, or the account's quota of builds is used up.
        ClientError: AWS refuses.
    """
    cancellation = Event()
    context = BuildContext(
        clients=clients,
        bucket=bucket,
        holder=f"{_user()}@{socket.gethostname()}, process {os.getpid()}",
        pace=terms.pace,
        cancellation=cancellation,
    )

    def outcome(task: BuildTask[Result]) -> BuildOutcome[Result]:
        try:
            with terms.progress(f"{task.kind} {task.name}") as tell:
                work = BuildWork(context, task, tell)
                return BuildOutcome(work.result(), work.has_built)
        except FindingsError as error:
            return BuildOutcome(findings=tuple(error.findings))

    def stop() -> None:
        cancellation.set()
        terms.stop()

    return all_in_parallel(tasks, outcome, terms.max_parallel, stop)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # in a container the user id may have no name
        return str(os.getuid())
