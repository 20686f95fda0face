"""Locks compared with the repositories that they were written from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from triton_fleet.check.spec_images import image_findings
from triton_fleet.endpoint.locks import with_hint_for_several
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import Project
from triton_fleet.spec.endpoint import EndpointSpec, in_s3
from triton_fleet.spec.lock import Lock, LockedRepository
from triton_fleet.spec.source import finding_at
from triton_fleet.store.engines.lock import onnx_changes, without_engines
from triton_fleet.store.lock_measurement import measured_lock
from triton_fleet.store.missing_files import MissingFile, missing_files, missing_findings
from triton_fleet.store.sources.line_ends import differs_in_line_ends
from triton_fleet.store.sources.spec_sources import SpecRepositories

MAX_DIFFERENCES = 10
"""So many changed files of one endpoint are named."""
CODE = "FL306"
SINCE = "since it was locked"
LINE_ENDS = "write `{} -text` into a .gitattributes file above it, and restore it as it was locked"


def stale_findings(
    project: Project, endpoint: str, repositories: SpecRepositories | None = None
) -> list[Finding]:
    """What differs between an endpoint's lock and its repositories or its image.

    A missing or broken lock and a broken spec are left to resolving.
    """
    loaded, lock = project.specs.readable(endpoint), project.readable_lock(endpoint)
    if loaded is None or lock is None or lock.endpoint != endpoint:
        return []
    return [
        difference
        for difference in differences(project, repositories or SpecRepositories(loaded), lock)
        if difference.severity is Severity.ERROR
    ]


def differences(project: Project, repositories: SpecRepositories, lock: Lock) -> list[Finding]:
    """What differs between a lock and the spec's repositories, by file; also why they cannot be read.

    A promoted lock is not of these repositories.
    """
    if project.is_promoted or lock.promoted_from is not None:
        return []
    found = _differences(project, repositories, lock)
    return with_hint_for_several(found, repositories.loaded.spec.endpoint, project.environment)


def _differences(project: Project, repositories: SpecRepositories, lock: Lock) -> list[Finding]:
    loaded = repositories.loaded
    endpoint = loaded.spec.endpoint
    hint = f"run {project.environment.lock_command(endpoint)} and have the change reviewed"
    others = [
        finding_at(loaded.source.mark(("models", index, "digest")), CODE, message, hint)
        for index, message in _other_digests(loaded.spec, lock)
    ]
    others += image_findings(project, loaded, lock)
    missing = missing_files(repositories, lock)
    late = defaultdict[int, set[str]](set)
    for each in missing:
        late[each.index].add(each.model)
    repositories.expect(late)
    others += missing_findings(missing)
    if missing:
        hint = f"get the missing files, then {hint}"
    try:
        differences = measured_lock(repositories, project.environment, held=lock, offline=True)
    except FindingsError as error:
        return [*others, *error.findings]
    if without_engines(differences) == without_engines(lock):
        return [*others, *onnx_changes(loaded, lock, differences, hint)]
    others += onnx_changes(loaded, lock, differences, hint)
    now = {name: each.files for name, each in differences.repositories.items()}
    findings = _change_findings(project, repositories, lock, now, missing, hint)
    if not findings and not others:
        message = "the lock is not what `fleet lock` would write: its content was changed"
        return [Finding(code=CODE, message=message, file=project.lock_file(endpoint), hint=hint)]
    return [*others, *findings]


def _change_findings(
    project: Project,
    repositories: SpecRepositories,
    lock: Lock,
    now: Mapping[str, Mapping[str, str]],
    missing: Sequence[MissingFile],
    hint: str,
) -> list[Finding]:
    """What changed in the repositories of which the checksums are given, the first of many."""
    file = project.lock_file(repositories.loaded.spec.endpoint)
    findings = [
        Finding(code=CODE, message=f"{what} {SINCE}", file=changed, hint=remedy or hint)
        for changed, what, remedy in _changes(
            repositories, lock, now, {(each.index, each.path) for each in missing}
        )
    ]
    if len(findings) > MAX_DIFFERENCES:
        more = f"{len(findings) - MAX_DIFFERENCES} more files changed {SINCE}"
        findings[MAX_DIFFERENCES:] = [Finding(code=CODE, message=more, file=file, hint=hint)]
    return findings


def _other_digests(spec: EndpointSpec, lock: Lock) -> Iterator[tuple[int, str]]:
    """Entries of `models` in S3 of which the lock holds another content than the spec expects."""
    for each in spec.packed:
        model, locked = spec.models[each.index], lock.archives.get(each.name)
        if in_s3(model) and locked is not None and model.digest not in (None, locked.digest):
            message = f"the lock holds {locked.digest} of {model.archive!r}; the spec expects {model.digest}"
            yield each.index, message


def _changes(
    repositories: SpecRepositories,
    lock: Lock,
    found: Mapping[str, Mapping[str, str]],
    missing: Collection[tuple[int, str]],
) -> Iterator[tuple[Path, str, str]]:
    """Each changed file, what changed, and the remedy if it is not a new lock."""
    for index, model in enumerate(repositories.loaded.spec.models):
        if in_s3(model) or model.archive not in found:
            continue
        before = lock.repositories.get(model.archive, LockedRepository()).files
        now = found[model.archive]
        folder = repositories.place(index)
        for path in sorted({**before, **now}):
            many = f"{PurePosixPath(path).parent}/*"
            if (index, path) in missing:
                continue
            if path == many:
                if before.get(path) != now.get(path):
                    yield folder / path.removesuffix("/*"), "some file in the folder changed", ""
            elif many in before or many in now:
                continue
            elif path not in now:
                yield folder / path, "the file is gone", ""
            elif path not in before:
                yield folder / path, "the file was added", ""
            elif before[path] != now[path]:
                if differs_in_line_ends(folder / path, before[path]):
                    yield folder / path, "only the line ends of the file changed", LINE_ENDS.format(path)
                else:
                    yield folder / path, "the file changed", ""
