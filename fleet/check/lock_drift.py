"""Locks compared with the repositories that they were written from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from fleet.artifacts.engines.lock import onnx_changes, without_engines
from fleet.artifacts.images.lock import image_changes
from fleet.artifacts.lock import measured_lock
from fleet.artifacts.sources.spec_sources import repository_of
from fleet.findings import Finding, FindingsError, Severity
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.lock import Lock, LockedRepository
from fleet.spec.project import LoadedSpec, Project, load_lock
from fleet.spec.s3_repository import in_s3
from fleet.spec.source import finding_at

MAX_DIFFERENCES = 10
"""So many changed files of one endpoint are named."""
CODE = "FL306"


def stale_findings(project: Project, endpoint: str) -> list[Finding]:
    """What differs between an endpoint's lock and its repositories or its image.

    A missing or broken lock and a broken spec are left to resolving.
    """
    try:
        loaded, lock = project.load(endpoint), load_lock(project.lock_file(endpoint))
    except FindingsError:
        return []
    if lock.endpoint != endpoint:
        return []
    return [each for each in differences(project, loaded, lock) if each.severity is Severity.ERROR]


def differences(project: Project, loaded: LoadedSpec, lock: Lock) -> list[Finding]:
    """What differs between a lock and the spec's repositories, by file; also why they cannot be read.

    A promoted lock is not of these repositories.
    """
    endpoint = loaded.spec.endpoint
    file = project.lock_file(endpoint)
    if project.is_promoted or lock.promoted_from is not None:
        return []
    shown = str(file.relative_to(project.root))
    hint = f"run `fleet lock --env {project.environment.environment} {endpoint}` and have the change reviewed"
    others = [
        finding_at(loaded.source.mark(("models", index, "digest")), CODE, message, hint)
        for index, message in _other_digests(loaded.spec, lock)
    ]
    others += image_changes(project, loaded, lock)
    try:
        found = measured_lock(loaded, project.environment, held=lock, offline=True)
    except FindingsError as error:
        return [*others, *error.findings]
    others += onnx_changes(loaded, lock, found, shown, hint)
    if without_engines(found) == without_engines(lock):
        return others
    findings = [
        Finding(code=CODE, message=f"{what} since {shown} was written", file=changed, hint=hint)
        for changed, what in _changes(loaded, lock, found)
    ]
    if len(findings) > MAX_DIFFERENCES:
        more = f"{len(findings) - MAX_DIFFERENCES} more files changed since {shown} was written"
        findings[MAX_DIFFERENCES:] = [Finding(code=CODE, message=more, file=file, hint=hint)]
    if not findings and not others:
        message = (
            "the lock is not what `fleet lock` would write: empty folders or the content of locks changed"
        )
        return [Finding(code=CODE, message=message, file=file, hint=hint)]
    return [*others, *findings]


def _other_digests(spec: EndpointSpec, lock: Lock) -> Iterator[tuple[int, str]]:
    """Entries of `models` in S3 of which the lock holds another content than the spec expects."""
    for each in spec.packed:
        model, locked = spec.models[each.index], lock.archives.get(each.name)
        if in_s3(model) and locked is not None and model.digest not in (None, locked.digest):
            message = f"the lock holds {locked.digest} of {model.archive!r}; the spec expects {model.digest}"
            yield each.index, message


def _changes(loaded: LoadedSpec, lock: Lock, found: Lock) -> Iterator[tuple[Path, str]]:
    for index, model in enumerate(loaded.spec.models):
        if in_s3(model):
            continue
        before = lock.repositories.get(model.archive, LockedRepository()).files
        now = found.repositories[model.archive].files
        folder = repository_of(loaded, index)
        for path in sorted({**before, **now}):
            many = f"{PurePosixPath(path).parent}/*"
            if path == many:
                if before.get(path) != now.get(path):
                    yield folder / path.removesuffix("/*"), "some file in the folder changed"
            elif many in before or many in now:
                continue
            elif path not in now:
                yield folder / path, "the file is gone"
            elif path not in before:
                yield folder / path, "the file was added"
            elif before[path] != now[path]:
                yield folder / path, "the file changed"
