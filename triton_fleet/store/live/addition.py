"""A new archive of a live set, from a repository that the command line names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from triton_fleet.context.samples import target_model
from triton_fleet.endpoint.bucket_keys import source_findings
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import HINT, Archive, in_s3, name_problem
from triton_fleet.spec.source import Source
from triton_fleet.store.content_store import copy_object, digest_of, store_key
from triton_fleet.store.live.live_set import LiveSet, Past, digest_of_target, versions_of
from triton_fleet.store.ownership import OF_LIVE_SET, Owners
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.source import ArchiveMeasurement, ArchiveSource, measure
from triton_fleet.store.sources.spec_sources import Connect, SpecRepositories, serving_container, source_of
from triton_fleet.store.upload.archives import Uploads
from triton_fleet.store.upload.object import ContentChangedError, ObjectPlace

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

OF_A_SPEC = re.compile(r"write `digest: (?P<digest>\S+)`")


def repository_source(
    project: Project, loaded_spec: LoadedSpec, archive: str, repository: str, digest: str | None, s3: Connect
) -> ArchiveSource:
    """A repository, read like an entry of the spec; paths are relative to the working directory.

    Raises:
        FindingsError: it does not exist, its name is not valid, or it is another endpoint's.
    """
    entry = Archive(archive=archive, repository=repository)
    if in_s3(entry):
        if message := name_problem(entry):
            raise FindingsError([Finding(code="FL219", message=message, hint=HINT)])
        entry = entry.model_copy(update={"digest": digest})
    else:
        _check_folder(repository, digest)
        return FolderSource.of(Path(repository).resolve(), serving_container(loaded_spec, entry))
    spec = loaded_spec.spec.model_copy(update={"models": (entry,)})
    data: dict[str, object] = {"models": [{"archive": archive, "repository": repository}]}
    entry_spec = LoadedSpec(spec, Source(loaded_spec.source.file, data))
    if findings := list(source_findings(project, entry_spec)):
        raise FindingsError(findings)
    return source_of(SpecRepositories(entry_spec), spec.packed_archives[0], s3)


@contextmanager
def told_of_arguments(loaded_spec: LoadedSpec) -> Iterator[None]:
    """Rewrite findings about an entry of the spec as findings about the command's arguments.

    Raises:
        FindingsError: the findings.
    """
    try:
        yield
    except FindingsError as error:
        raise FindingsError(
            [_place_finding(finding, loaded_spec.source.file) for finding in error.findings]
        ) from error


def _place_finding(finding: Finding, spec: Path) -> Finding:
    if finding.file != spec:
        return finding
    hint = OF_A_SPEC.sub(r"pass `--digest \g<digest>`", finding.hint)
    return replace(finding, file=None, line=None, column=None, hint=hint)


def _check_folder(repository: str, digest: str | None) -> None:
    folder = Path(repository)
    if digest is not None:
        message, hint = "--digest is for a repository in S3, and this is a folder", "leave it out"
        raise FindingsError([Finding(code="FL339", message=message, hint=hint)])
    if not folder.is_dir():
        message = f"{repository} {'is not a folder' if folder.exists() else 'does not exist'}"
        raise FindingsError([Finding(code="FL401", message=message)])


@dataclass(frozen=True, kw_only=True)
class Addition:
    """The TargetModel for callers, and whether it existed before."""

    target: str
    had_target: bool


def add_archive(
    s3: S3Client,
    live: LiveSet,
    archive: str,
    version: int | None,
    source: ArchiveSource,
) -> Addition:
    """Put an archive into the content store, and from there into the live set.

    Without `version`, it is the latest one if that has this content, else the next one. Concurrent additions
    never get the same name for different contents.

    Raises:
        FindingsError: the container could not serve it, it changes while it is read, or the name has or had
            other content.
    """
    measurement = measure(source)
    while True:
        history = versions_of(s3, live, archive)
        number = (
            _latest_or_next(s3, live, archive, history, measurement.digest) if version is None else version
        )
        target = target_model(archive, number)
        past = history.get(number)
        if past is not None and digest_of_target(s3, live, target, past) != measurement.digest:
            raise FindingsError([_target_conflict(live, archive, target, past, max(history) + 1)])
        if past is not None and past.is_there:
            return Addition(target=target, had_target=True)
        _store(s3, live, source, measurement)
        Owners(s3, live.deployment.bucket).record(live.endpoint, [measurement.digest], OF_LIVE_SET)
        bucket, source_key = live.deployment.bucket, store_key(measurement.digest)
        if copy_object(s3, bucket, source_key, bucket, live.key(target), measurement.digest, overwrite=False):
            return Addition(target=target, had_target=False)


def _latest_or_next(s3: S3Client, live: LiveSet, archive: str, history: dict[int, Past], digest: str) -> int:
    latest = max(history, default=0)
    if latest and digest_of_target(s3, live, target_model(archive, latest), history[latest]) == digest:
        return latest
    return latest + 1


def _store(s3: S3Client, live: LiveSet, source: ArchiveSource, measurement: ArchiveMeasurement) -> None:
    place = ObjectPlace(live.deployment.bucket, store_key(measurement.digest))
    if digest_of(s3, place.bucket, place.key) is None:
        try:
            with Uploads(s3) as uploads:
                uploads.archive(place, source.write, digest=measurement.digest, size=measurement.size)
        except ContentChangedError as error:
            message, hint = "the repository changed while it was packed", "wait until its writer has finished"
            raise FindingsError([Finding(code="FL305", message=message, hint=hint)]) from error


def _target_conflict(live: LiveSet, archive: str, target: str, past: Past, free: int) -> Finding:
    if past.is_there:
        message = f"{target} of {live.endpoint} has other content, and a target is never overwritten"
    elif past.version_id is None:
        message = f"{target} is in the spec of {live.endpoint}, so the lock sets its content"
    else:
        message = (
            f"{target} of {live.endpoint} had other content until it was removed:"
            " an instance that has loaded it may still serve that"
        )
    hint = f"leave out --version, or pass `--version {free}`, the next free one of {archive!r}"
    return Finding(code="FL330", message=message, hint=hint)
