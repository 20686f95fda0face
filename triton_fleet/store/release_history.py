"""The releases of an endpoint in order, and the one that a reference names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.changes.lock_changes import content_changes
from triton_fleet.changes.spec_changes import recorded_changes
from triton_fleet.core.formats import short_commit
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.bucket_keys import ARCHIVES
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.content_store import list_objects
from triton_fleet.store.releases import MAX_PARALLEL_READS, Release, last_releases
from triton_fleet.store.rollback import EarlierRelease, earlier_release

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

UNKNOWN_RELEASE, NO_COMMIT = "FL528", "FL532"
RELEASE_ID = re.compile(r"\d{4}-\d\d-\d\d(T[\d:.]*Z?)?")
"""The id of a release or its beginning, from the day on; no id of a commit looks like it."""
MAX_IDS = 5
"""Ids that are listed for an ambiguous beginning."""


def release_to_restore(project: Project, endpoint: str, reference: str, s3: S3Client) -> EarlierRelease:
    """The lock and the spec of a release, from the commit that its record names.

    Raises:
        FindingsError: no release is recorded under that id, several are, or no commit has what it ran.
        CannotRunError: AWS refuses or does not answer, or Git does not know the commit.
    """
    deployment, lock_file = project.deployment, project.lock_file(endpoint).relative_to(project.root)
    with aws_errors_as_findings(deployment):
        releases = last_releases(s3, deployment.bucket, endpoint)
    release = release_of(reference, releases, deployment.environment, endpoint)
    restoration = earlier_release(project, endpoint, commit_of(release, releases, lock_file.as_posix()))
    require_lock_of(release, restoration, short_id(release, releases))
    return restoration


def release_of(reference: str, releases: Sequence[Release], environment: str, endpoint: str) -> Release:
    """The release whose id begins with a reference.

    Raises:
        FindingsError: none does, or several do.
    """
    ids = [
        release
        for release in releases
        if release.id == reference or release.id.startswith(reference.rstrip("Z"))
    ]
    if len(ids) == 1:
        return ids[0]
    if ids:
        id_list = ", ".join(candidate.id for candidate in ids[:MAX_IDS]) + (
            " and others" if len(ids) > MAX_IDS else ""
        )
        message = f"{len(ids)} releases of {endpoint} in {environment} begin with {reference!r}: {id_list}"
        hint = "write more of the id"
    else:
        message = f"no release of {endpoint} in {environment} is recorded as {reference!r}"
        hint = (
            f"`fleet history {endpoint} --env {environment}` lists them; failed deploys are not recorded,"
            " and `fleet publish --prune` removes the oldest"
        )
    raise FindingsError([Finding(code=UNKNOWN_RELEASE, message=message, hint=hint)])


def commit_of(release: Release, releases: Sequence[Release], lock_file: str) -> str:
    """The commit with the lock and the spec of a release.

    Where it was not deployed from a commit, that of another release with the same content.

    Raises:
        FindingsError: no commit is recorded that has them.
    """
    for candidate in (
        release,
        *(candidate for candidate in releases if candidate.content == release.content),
    ):
        if candidate.source and candidate.source.commit and not candidate.source.uncommitted:
            return candidate.source.commit
    name, source = short_id(release, releases), release.source
    hint = f"name a commit: `git log -- {lock_file}` shows those of its lock"
    if source is None:
        message = f"the record of {name} has no commit: an earlier version of triton-fleet wrote it"
    elif source.commit is None:
        message = f"{name} was deployed outside of Git, so no commit has its lock and spec"
    else:
        message = f"{name} was deployed from files that differed from commit {short_commit(source.commit)}"
        hint = f"`--to {short_commit(source.commit)}` restores what that commit has; {hint}"
    raise FindingsError([Finding(code=NO_COMMIT, message=message, hint=hint)])


def require_lock_of(release: Release, restoration: EarlierRelease, name: str) -> None:
    """Check that a commit has the archives and the image that a release ran: a record may have been changed.

    The specs are not compared: the record has that of the release with the layers of then, and the commit's
    is restored with those of now. If the commit's lock has an image without a digest, any digest will do.

    Raises:
        FindingsError: they are others.
    """
    lock, image = restoration.lock, restoration.lock.image
    is_same_image = (
        release.image == image.digest if image and image.digest else bool(release.image) == bool(image)
    )
    if {archive.digest for archive in release.archives} != {
        archive.digest for archive in lock.archives.values()
    }:
        subject = "archives"
    elif not is_same_image:
        subject = "image"
    else:
        subject = ""
    if subject:
        message = f"{name} did not run the {subject} that the lock in {restoration.commit} names"
        hint = "name a commit if you want what it has; the record may have been changed"
        raise FindingsError([Finding(code=NO_COMMIT, message=message, hint=hint)])


SECONDS = len("2026-01-31T23:59:59")


@dataclass(frozen=True, kw_only=True)
class HistoryEntry:
    """A release among the others of its endpoint.

    Attributes:
        id: Its id, as short as it is unambiguous.
        release: The release.
        state: Whether it runs, was replaced, or was rolled back.
        same_as: The id of the last release before it with the same content; a rollback to that one.
        changes: What it changed, in words.
        lost_keys: The keys of its archives that the store no longer has, without their ends.
    """

    id: str
    release: Release
    state: str
    same_as: str | None
    changes: tuple[str, ...]
    lost_keys: tuple[str, ...] = ()


def history(releases: Sequence[Release], status: str | None) -> list[HistoryEntry]:
    """All of an endpoint's releases, newest first, with the state and the changes of each.

    Args:
        releases: All that are recorded, newest first.
        status: The status of the endpoint in SageMaker, None if it does not exist.
    """
    entries = list[HistoryEntry]()
    for index, release in enumerate(releases):
        earlier = releases[index + 1 :]
        twin = next((candidate for candidate in earlier if candidate.content == release.content), None)
        state = _newest_state(status) if index == 0 else "replaced"
        if _is_rolled_back(index, releases):
            state = "rolled back"
        entries.append(
            HistoryEntry(
                id=short_id(release, releases),
                release=release,
                state=state,
                same_as=short_id(twin, releases) if twin else None,
                changes=tuple(_changes(earlier[0], release) if earlier else ()),
            )
        )
    return entries


def short_id(release: Release, releases: Sequence[Release]) -> str:
    """The id of a release to the second, whole where another one is of the same second."""
    second = release.id[:SECONDS]
    is_only = sum(release.id.startswith(second) for release in releases) == 1
    return f"{second}Z" if is_only else release.id


def lost_archives(s3: S3Client, bucket: str, releases: Sequence[Release]) -> frozenset[str]:
    """The digests of these releases' archives of which the store has nothing any more.

    Raises:
        ClientError: access is denied.
    """
    digests = sorted({archive.digest for release in releases for archive in release.archives})

    def is_stored(digest: str) -> bool:
        return bool(list_objects(s3, bucket, f"{ARCHIVES}{hexadecimal(digest)}"))

    presence = all_in_parallel(digests, is_stored, MAX_PARALLEL_READS)
    return frozenset(digest for digest, is_present in zip(digests, presence, strict=True) if not is_present)


def _newest_state(status: str | None) -> str:
    if status is None:
        return "deleted"
    return "runs now" if status == "InService" else f"runs now, {status}"


def _is_rolled_back(index: int, releases: Sequence[Release]) -> bool:
    """Whether a later release has the content of an earlier one."""
    before = [release.content for release in releases[index + 1 :]]
    return any(release.content in before for release in releases[:index])


def _changes(before: Release, after: Release) -> Iterator[str]:
    old, new = before.source, after.source
    if old is None or new is None:
        yield from _unexplained_changes(before, after)
        return
    yield from map(str, recorded_changes(old.spec, new.spec))
    try:
        earlier, later = (Lock.model_validate_json(json.dumps(release.lock)) for release in (old, new))
    except ValidationError:
        yield from _unexplained_changes(before, after)
    else:
        yield from content_changes(earlier, later)


def _unexplained_changes(before: Release, after: Release) -> Iterator[str]:
    """The part of a change that the content alone shows."""
    changes = [name for name in ("archives", "image") if getattr(before, name) != getattr(after, name)]
    content = " and ".join(changes) or "neither archives nor image"
    yield f"{content} changed; what else did is unknown, as no readable spec and lock are recorded"
