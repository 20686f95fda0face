"""Ensures that the images that locks expect are in the repository: builds the missing ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.catalog.releases import versions_differ
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.clients import Builders
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.images.builds import build_images
from triton_fleet.store.images.lock import STALE
from triton_fleet.store.images.record import BuiltImage, built_image
from triton_fleet.store.images.source import (
    RELEASE_FACTS,
    ImageSource,
    image_difference,
    image_source,
    lock_of_image,
    wanted_images,
)
from triton_fleet.store.ownership import OF_BUILD, Owners
from triton_fleet.store.progress import PublishProgress

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

OTHER_TAG, OTHER_CONTENTS = "FL687", "FL688"


@dataclass(frozen=True, kw_only=True)
class RepositoryImages:
    """The digests of the images by endpoint, and how many were built."""

    digests: Mapping[str, str] = field(default_factory=dict)
    built: int = 0

    def notes(self, environment: str) -> list[str]:
        """The digests, and how they come into locks, in sentences."""
        return [
            f"{name}: the image is {digest}; `fleet lock --env {environment} {name}` records it, for review"
            for name, digest in self.digests.items()
        ]


@dataclass(frozen=True, eq=False)
class _PendingImage:
    """An endpoint whose lock does not have the digest of its image, which is built from this source."""

    endpoint: ResolvedEndpoint
    locked: LockedImage
    source: ImageSource


def ensure_images(
    s3: S3Client,
    ecr: Callable[[], Any],
    project: Project,
    endpoints: Sequence[ResolvedEndpoint],
    owners: Owners,
    progress: PublishProgress,
    builders: Builders,
    pace: Pace,
) -> RepositoryImages:
    """Build the images that locks expect and the repository lacks, and record them as the endpoints'.

    The record of the build names the digest. The tag in the repository, which the template names, has to be
    of that digest, and the image has to contain what the lock expects.

    Raises:
        FindingsError: a folder is not what its lock was written for and the image is not known as the
            endpoint's, an image cannot be built, or it is not the one that was expected.
        CannotRunError: images cannot be built in this account now.
        ClientError: AWS refuses.
    """
    pending = [
        pending_image for endpoint in endpoints for pending_image in _pending_images(project, endpoint)
    ]
    if not pending:
        return RepositoryImages()
    stale = {each: problem for each in pending if (problem := image_difference(each.source, each.locked))}
    former = {each: image for each in stale if (image := _former_image(s3, owners, each))}
    if findings := [
        finding_at(each.source.mark, STALE, problem, _lock_again(each))
        for each, problem in stale.items()
        if each not in former
    ]:
        raise FindingsError(findings)
    images = wanted_images(project, [each.source for each in pending if each not in stale])
    done = build_images(s3, ecr, project, images, progress, builders, pace)
    client, findings, digests = ecr(), list(done.findings), dict[str, str]()
    for each in pending:
        image = former.get(each) or done.images.get(each.locked.key or "")
        if image is None:
            continue
        problems = list(_differences(client, each, image))
        findings += problems
        if not problems:
            owners.record(each.endpoint.name, [image.record.digest], OF_BUILD)
            digests[each.endpoint.name] = image.record.digest
    if findings:
        raise FindingsError(findings)
    return RepositoryImages(digests=digests, built=len(done.built))


def _pending_images(project: Project, endpoint: ResolvedEndpoint) -> Iterator[_PendingImage]:
    if not endpoint.image.is_own or endpoint.image.digest is not None:
        return
    source = image_source(project.load(endpoint.name), project.environment)
    locked = lock_of_image(project, endpoint.name)
    if source is not None and locked is not None:
        yield _PendingImage(endpoint, locked, source)


def _former_image(s3: S3Client, owners: Owners, pending: _PendingImage) -> BuiltImage | None:
    """The image of an earlier lock, whose folder has changed since, if the endpoint had it."""
    image = built_image(s3, pending.endpoint.deployment, pending.locked.key or "")
    name = pending.endpoint.name
    return image if image and owners.owned_digests(name, [image.record.digest]) else None


def _differences(ecr: Any, pending: _PendingImage, image: BuiltImage) -> Iterator[Finding]:
    """How the image of the tag differs from the record of its build, and that from what the lock expects."""
    uri, digest, mark = pending.endpoint.image.uri, image.record.digest, pending.source.mark
    tagged, _ = requested_image(ecr, image_reference(uri))
    named = tagged["imageId"]["imageDigest"] if tagged is not None else "nothing"
    if named != digest:
        message = f"the tag {uri} names {named}, but its build recorded {digest}"
        hint = "find out who pushed or deleted it; delete the tag, and deploy again: the image is built again"
        yield finding_at(mark, OTHER_TAG, message, hint)
    for fact in ("triton", *RELEASE_FACTS):
        version, in_image = getattr(pending.locked.expected, fact, None), getattr(image.facts, fact)
        if version and in_image and versions_differ(version, in_image):
            message = f"the image was built with {fact} {in_image}, but the lock expects {version}"
            yield finding_at(mark, OTHER_CONTENTS, message, _lock_again(pending))


def _lock_again(pending: _PendingImage) -> str:
    environment = pending.endpoint.deployment.environment
    return f"run `fleet lock --env {environment} {pending.endpoint.name}`, and have the change reviewed"
