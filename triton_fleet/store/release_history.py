"""The releases of an endpoint: which runs, and what each changed, in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ValidationError

from triton_fleet.changes.lock_changes import content_changes
from triton_fleet.changes.spec_changes import recorded_changes
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.bucket_keys import ARCHIVES
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.content_store import list_objects
from triton_fleet.store.releases import READS_AT_ONCE, Release

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

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
        lost: The keys of its archives that the store no longer has, without their ends.
    """

    id: str
    release: Release
    state: str
    same_as: str | None
    changes: tuple[str, ...]
    lost: tuple[str, ...] = ()


def history(releases: Sequence[Release], status: str | None) -> list[HistoryEntry]:
    """All of an endpoint's releases, newest first, with the state and the changes of each.

    Args:
        releases: All that are recorded, newest first.
        status: The status of the endpoint in SageMaker, None if it does not exist.
    """
    entries = list[HistoryEntry]()
    for index, release in enumerate(releases):
        earlier = releases[index + 1 :]
        twin = next((each for each in earlier if each.content == release.content), None)
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

    stored = all_in_parallel(digests, is_stored, READS_AT_ONCE)
    return frozenset(digest for digest, found in zip(digests, stored, strict=True) if not found)


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
        yield from _unexplained(before, after)
        return
    yield from map(str, recorded_changes(old.spec, new.spec))
    try:
        earlier, later = (Lock.model_validate_json(json.dumps(each.lock)) for each in (old, new))
    except ValidationError:
        yield from _unexplained(before, after)
    else:
        yield from content_changes(earlier, later)


def _unexplained(before: Release, after: Release) -> Iterator[str]:
    """The part of a change that the content alone shows."""
    changed = [name for name in ("archives", "image") if getattr(before, name) != getattr(after, name)]
    content = " and ".join(changed) or "neither archives nor image"
    yield f"{content} changed; what else did is unknown, as no readable spec and lock are recorded"
