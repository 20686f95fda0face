"""Locks compared with the repositories and images that they were written from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from triton_fleet.endpoint.locks import with_hint_for_several
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import EndpointSpec, in_s3
from triton_fleet.spec.lock import Lock, LockedRepository
from triton_fleet.spec.source import finding_at
from triton_fleet.store.engines.lock import onnx_changes, without_engines
from triton_fleet.store.lock_measurement import measured_lock
from triton_fleet.store.missing_files import MissingFile, missing_files, missing_findings
from triton_fleet.store.sources.folder import differs_in_line_ends
from triton_fleet.store.sources.spec_sources import SpecRepositories

MAX_DIFFERENCES = 10
"""So many changed files of one endpoint are named."""
CODE = "FL306"
SINCE = "since it was locked"
LINE_ENDS = "write `{} -text` into a .gitattributes file above it, and restore it as it was locked"


def stale_findings(
    project: Project, endpoint: str, repositories: SpecRepositories | None = None
) -> list[Finding]:
    """The differences between an endpoint's lock and its repositories or its image.

    A missing or broken lock and a broken spec are left to resolving.
    """
    spec, lock = project.specs.readable(endpoint), project.readable_lock(endpoint)
    if spec is None or lock is None or lock.endpoint != endpoint:
        return []
    return [
        difference
        for difference in differences(project, repositories or SpecRepositories(spec), lock)
        if difference.severity is Severity.ERROR
    ]


def differences(project: Project, repositories: SpecRepositories, lock: Lock) -> list[Finding]:
    """The differences between a lock and the spec's repositories, by file; also why they cannot be read.

    A promoted lock is not of these repositories.
    """
    if project.is_promoted or lock.promoted_from is not None:
        return []
    findings = _differences(project, repositories, lock)
    return with_hint_for_several(findings, repositories.loaded_spec.spec.endpoint, project.environment)


def _differences(project: Project, repositories: SpecRepositories, lock: Lock) -> list[Finding]:
    spec = repositories.loaded_spec
    endpoint = spec.spec.endpoint
    hint = f"run {project.environment.lock_command(endpoint)} and have the change reviewed"
    findings_of_spec = [
        finding_at(spec.source.mark(("models", index, "digest")), CODE, message, hint)
        for index, message in _other_digests(spec.spec, lock)
    ]
    findings_of_spec += image_findings(project, spec, lock)
    absent_files = missing_files(repositories, lock)
    late = defaultdict[int, set[str]](set)
    for absent_file in absent_files:
        late[absent_file.index].add(absent_file.model)
    repositories.expect(late)
    findings_of_spec += missing_findings(absent_files)
    if absent_files:
        hint = f"get the missing files, then {hint}"
    try:
        differences = measured_lock(repositories, project.environment, earlier_lock=lock, offline=True)
    except FindingsError as error:
        return [*findings_of_spec, *error.findings]
    if without_engines(differences) == without_engines(lock):
        return [*findings_of_spec, *onnx_changes(spec, lock, differences, hint)]
    findings_of_spec += onnx_changes(spec, lock, differences, hint)
    checksums = {name: absent_file.files for name, absent_file in differences.repositories.items()}
    findings = _change_findings(project, repositories, lock, checksums, absent_files, hint)
    if not findings and not findings_of_spec:
        message = "the lock is not what `fleet lock` would write: its content was changed"
        return [Finding(code=CODE, message=message, file=project.lock_file(endpoint), hint=hint)]
    return [*findings_of_spec, *findings]


def _change_findings(
    project: Project,
    repositories: SpecRepositories,
    lock: Lock,
    checksums: Mapping[str, Mapping[str, str]],
    absent_files: Sequence[MissingFile],
    hint: str,
) -> list[Finding]:
    """The changes in the repositories of which the checksums are given, the first of many."""
    file = project.lock_file(repositories.loaded_spec.spec.endpoint)
    findings = [
        Finding(code=CODE, message=f"{change} {SINCE}", file=changed_path, hint=remedy or hint)
        for changed_path, change, remedy in _changes(
            repositories,
            lock,
            checksums,
            {(absent_file.index, absent_file.path) for absent_file in absent_files},
        )
    ]
    if len(findings) > MAX_DIFFERENCES:
        more = f"{len(findings) - MAX_DIFFERENCES} more files changed {SINCE}"
        findings[MAX_DIFFERENCES:] = [Finding(code=CODE, message=more, file=file, hint=hint)]
    return findings


def _other_digests(spec: EndpointSpec, lock: Lock) -> Iterator[tuple[int, str]]:
    """Entries of `models` in S3 of which the lock holds another content than the spec expects."""
    for packed_archive in spec.packed_archives:
        model, archive = spec.models[packed_archive.index], lock.archives.get(packed_archive.name)
        if in_s3(model) and archive is not None and model.digest not in (None, archive.digest):
            message = f"the lock holds {archive.digest} of {model.archive!r}; the spec expects {model.digest}"
            yield packed_archive.index, message


def _changes(
    repositories: SpecRepositories,
    lock: Lock,
    checksums: Mapping[str, Mapping[str, str]],
    absent_files: Collection[tuple[int, str]],
) -> Iterator[tuple[Path, str, str]]:
    """Each changed file, what changed, and the remedy if it is not a new lock."""
    for index, model in enumerate(repositories.loaded_spec.spec.models):
        if in_s3(model) or model.archive not in checksums:
            continue
        before = lock.repositories.get(model.archive, LockedRepository()).files
        after = checksums[model.archive]
        folder = repositories.place(index)
        for path in sorted({**before, **after}):
            many = f"{PurePosixPath(path).parent}/*"
            if (index, path) in absent_files:
                continue
            if path == many:
                if before.get(path) != after.get(path):
                    yield folder / path.removesuffix("/*"), "some file in the folder changed", ""
            elif many in before or many in after:
                continue
            elif path not in after:
                yield folder / path, "the file is gone", ""
            elif path not in before:
                yield folder / path, "the file was added", ""
            elif before[path] != after[path]:
                if differs_in_line_ends(folder / path, before[path]):
                    yield folder / path, "only the line ends of the file changed", LINE_ENDS.format(path)
                else:
                    yield folder / path, "the file changed", ""


def image_findings(project: Project, spec: LoadedSpec, lock: Lock | None) -> list[Finding]:
    """The findings of the folder of a spec's own image, and how its lock differs from it."""
    if spec.spec.own_image is None:
        return []
    from triton_fleet.store.images.lock import image_changes  # slow imports that only such specs need

    return image_changes(project, spec, lock)
