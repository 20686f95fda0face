"""The release that a user names by its id, and the commit that brings it back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.core.digests import short_commit
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.store.release_history import short_id
from triton_fleet.store.releases import Release, last_releases
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
    chosen = release_of(reference, releases, deployment.environment, endpoint)
    found = earlier_release(project, endpoint, commit_of(chosen, releases, lock_file.as_posix()))
    require_lock_of(chosen, found, short_id(chosen, releases))
    return found


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
        listed = ", ".join(each.id for each in ids[:MAX_IDS]) + (" and others" if len(ids) > MAX_IDS else "")
        message = f"{len(ids)} releases of {endpoint} in {environment} begin with {reference!r}: {listed}"
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
    for each in (release, *(each for each in releases if each.content == release.content)):
        if each.source and each.source.commit and not each.source.uncommitted:
            return each.source.commit
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


def require_lock_of(release: Release, restored: EarlierRelease, name: str) -> None:
    """Check that a commit has the archives and the image that a release ran: a record may have been changed.

    The specs are not compared: the record has that of the release with the layers of then, and the commit's
    is restored with those of now. If the commit's lock has an image without a digest, any digest will do.

    Raises:
        FindingsError: they are others.
    """
    lock, image = restored.lock, restored.lock.image
    is_same_image = (
        release.image == image.digest if image and image.digest else bool(release.image) == bool(image)
    )
    if {archive.digest for archive in release.archives} != {
        archive.digest for archive in lock.archives.values()
    }:
        what = "archives"
    elif not is_same_image:
        what = "image"
    else:
        what = ""
    if what:
        message = f"{name} did not run the {what} that the lock in {restored.commit} names"
        hint = "name a commit if you want what it has; the record may have been changed"
        raise FindingsError([Finding(code=NO_COMMIT, message=message, hint=hint)])
