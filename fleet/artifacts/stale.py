"""Locks held against the repositories that they were written from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fleet.artifacts.lock import measured_lock
from fleet.findings import Finding, FindingsError
from fleet.spec.lock import Lock, LockedRepository
from fleet.spec.project import LoadedSpec, Project, load_lock

SHOWN = 10
"""So many changed files of one endpoint are named."""
CODE = "FL306"


def stale_findings(project: Project, endpoint: str) -> list[Finding]:
    """What differs between an endpoint's lock and its repositories, by file; also why they cannot be read.

    A missing or broken lock and a broken spec are left to resolving; a promoted lock is not of these
    repositories.
    """
    file = project.lock_file(endpoint)
    try:
        loaded, lock = project.load(endpoint), load_lock(file)
    except FindingsError:
        return []
    if lock.promoted_from is not None:
        return []
    try:
        found = measured_lock(loaded)
    except FindingsError as error:
        return error.findings
    if found == lock:
        return []
    shown = str(file.relative_to(project.root))
    hint = f"run `fleet lock --env {project.environment.environment} {endpoint}` and have the change reviewed"
    findings = [
        Finding(code=CODE, message=f"{what} since {shown} was written", file=changed, hint=hint)
        for changed, what in _changes(loaded, lock, found)
    ]
    if not findings:
        message = "the lock is not what `fleet lock` would write"
        return [Finding(code=CODE, message=message, file=file, hint=hint)]
    if len(findings) > SHOWN:
        more = f"{len(findings) - SHOWN} more files changed since {shown} was written"
        findings[SHOWN:] = [Finding(code=CODE, message=more, file=file, hint=hint)]
    return findings


def _changes(loaded: LoadedSpec, lock: Lock, found: Lock) -> Iterator[tuple[Path, str]]:
    for model in loaded.spec.models:
        before = lock.repositories.get(model.archive, LockedRepository()).files
        now = found.repositories[model.archive].files
        folder = (loaded.source.file.parent / model.repository).resolve()
        for path in sorted({**before, **now}):
            if path not in now:
                yield folder / path, "the file is gone"
            elif path not in before:
                yield folder / path, "the file came"
            elif before[path] != now[path]:
                what = "some file in the folder" if path.endswith("/*") else "the file"
                yield folder / path.removesuffix("/*"), f"{what} changed"
