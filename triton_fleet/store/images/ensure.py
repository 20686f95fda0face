"""Whether the registries have the images that endpoints are about to run, and whether they may run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.images.pinned_release import pinned_release_findings
from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.catalog.releases import versions_differ
from triton_fleet.context.registries import is_fleet_repository
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import Project
from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.codebuild import Builders
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

MAX_PARALLEL_REQUESTS = 16
NO_PERMISSION = "AccessDeniedException"
FOREIGN = "FL849"


def require_images(
    s3: S3Client,
    ecr: Callable[[], Any],
    project: Project,
    endpoints: Sequence[ResolvedEndpoint],
    owners: Owners,
) -> list[Finding]:
    """Check that each image that a lock has by its digest exists and is its endpoint's.

    ECR is called only if there is one. Images that are still to be built are those of `ensure_images`.

    An image that the caller may not see passes: the endpoint's role pulls it, and not the caller. A digest in
    `image_digest` is compared with the release's registry; the warnings of that are returned.

    Raises:
        FindingsError: a registry does not have an image, or no longer; an image is another endpoint's; or
            `image_digest` is of another release.
        ClientError: AWS refuses otherwise.
    """
    own = [endpoint for endpoint in endpoints if endpoint.image.is_own and endpoint.image.digest is not None]
    client = ecr() if own else None

    def problem(endpoint: ResolvedEndpoint) -> Finding | None:
        return _absence_finding(client, project, endpoint) or _foreign(s3, project, endpoint, owners)

    findings = [
        absence for absence in all_in_parallel(own, problem, MAX_PARALLEL_REQUESTS) if absence is not None
    ]
    findings += pinned_release_findings(
        ecr, project.environment, [project.load(endpoint.name) for endpoint in endpoints]
    )
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise FindingsError(findings)
    return findings


def _foreign(s3: S3Client, project: Project, endpoint: ResolvedEndpoint, owners: Owners) -> Finding | None:
    """Why an image of the product's own repositories is not the endpoint's; None where it is."""
    image, deployment, name = endpoint.image, endpoint.deployment, endpoint.name
    is_ours = image.account == deployment.account and is_fleet_repository(image.repository)
    if not is_ours or image.digest is None or owners.owned_digests(name, [image.digest]):
        return None
    lock = project.lock(name)
    if lock.promoted_from is None and lock.image is not None and _is_built(s3, project, endpoint, lock.image):
        owners.record(name, [image.digest], OF_BUILD)
        return None
    message = f"no build of {name!r} in {deployment.environment!r} made the image {image.name}"
    hint = (
        f"run `fleet images build --env {deployment.environment} {name}`, then"
        f" `fleet lock --env {deployment.environment} {name}`, and have the change reviewed"
    )
    if lock.promoted_from is not None:
        message = f"no promotion from {lock.promoted_from!r} brought {name!r} the image {image.name}"
        hint = f"run `fleet promote --from {lock.promoted_from} --to {deployment.environment} {name}`"
    return finding_at(project.load(name).source.mark(("image",)), FOREIGN, message, hint)


def _is_built(s3: S3Client, project: Project, endpoint: ResolvedEndpoint, entry: LockedImage) -> bool:
    """Whether the build of the endpoint's own folder, on the base that the lock names, made the image."""
    try:
        source = image_source(project.load(endpoint.name), project.environment)
        if source is None or entry.key is None or image_difference(source, entry):
            return False
        record = built_image(s3, endpoint.deployment, entry.key)
    except FindingsError:  # the folder is not what a build would take, or the record is damaged
        return False
    return record is not None and record.record.digest == entry.digest


def _absence_finding(ecr: Any, project: Project, endpoint: ResolvedEndpoint) -> Finding | None:
    uri, name, environment = endpoint.image.uri, endpoint.name, endpoint.deployment.environment
    try:
        details, reason = requested_image(ecr, image_reference(uri))
    except ClientError as error:
        if error.response["Error"]["Code"] == NO_PERMISSION:
            return None
        raise
    if details is not None:
        return None
    own = endpoint.spec.own_image
    hint = (
        f"run `fleet images build --env {environment} {name}`, then `fleet lock --env {environment} {name}`"
        if own is not None and own.build is not None
        else "write the digest of an image that the repository has; `fleet images inspect` shows it"
    )
    message = f"the image of {name}, {uri}, does not exist: {reason}"
    return finding_at(project.load(name).source.mark(("image",)), "FL628", message, hint)


OTHER_TAG, OTHER_CONTENTS = "FL687", "FL688"


@dataclass(frozen=True, kw_only=True)
class RepositoryImages:
    """The digests of the images by endpoint, and how many were built."""

    digests: Mapping[str, str] = field(default_factory=dict)
    new_count: int = 0

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
    locked_image: LockedImage
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
    image_uses = [
        pending_image for endpoint in endpoints for pending_image in _pending_images(project, endpoint)
    ]
    if not image_uses:
        return RepositoryImages()
    stale = {
        image_use: problem
        for image_use in image_uses
        if (problem := image_difference(image_use.source, image_use.locked_image))
    }
    former = {image_use: image for image_use in stale if (image := _former_image(s3, owners, image_use))}
    if findings := [
        finding_at(image_use.source.mark, STALE, problem, _lock_hint(image_use))
        for image_use, problem in stale.items()
        if image_use not in former
    ]:
        raise FindingsError(findings)
    images = wanted_images(project, [image_use.source for image_use in image_uses if image_use not in stale])
    outcome = build_images(s3, ecr, project, images, progress, builders, pace)
    client, findings, digests = ecr(), list(outcome.findings), dict[str, str]()
    for image_use in image_uses:
        image = former.get(image_use) or outcome.results.get(image_use.locked_image.key or "")
        if image is None:
            continue
        problems = list(_differences(client, image_use, image))
        findings += problems
        if not problems:
            owners.record(image_use.endpoint.name, [image.record.digest], OF_BUILD)
            digests[image_use.endpoint.name] = image.record.digest
    if findings:
        raise FindingsError(findings)
    return RepositoryImages(digests=digests, new_count=len(outcome.new_keys))


def _pending_images(project: Project, endpoint: ResolvedEndpoint) -> Iterator[_PendingImage]:
    if not endpoint.image.is_own or endpoint.image.digest is not None:
        return
    source = image_source(project.load(endpoint.name), project.environment)
    entry = lock_of_image(project, endpoint.name)
    if source is not None and entry is not None:
        yield _PendingImage(endpoint, entry, source)


def _former_image(s3: S3Client, owners: Owners, image_use: _PendingImage) -> BuiltImage | None:
    """The image of an earlier lock, whose folder has changed since, if the endpoint had it."""
    image = built_image(s3, image_use.endpoint.deployment, image_use.locked_image.key or "")
    name = image_use.endpoint.name
    return image if image and owners.owned_digests(name, [image.record.digest]) else None


def _differences(ecr: Any, image_use: _PendingImage, image: BuiltImage) -> Iterator[Finding]:
    """How the image of the tag differs from the record of its build, and that from what the lock expects."""
    uri, digest, mark = image_use.endpoint.image.uri, image.record.digest, image_use.source.mark
    details, _ = requested_image(ecr, image_reference(uri))
    tag_digest = details["imageId"]["imageDigest"] if details is not None else "nothing"
    if tag_digest != digest:
        message = f"the tag {uri} names {tag_digest}, but its build recorded {digest}"
        hint = "find out who pushed or deleted it; delete the tag, and deploy again: the image is built again"
        yield finding_at(mark, OTHER_TAG, message, hint)
    for fact in ("triton", *RELEASE_FACTS):
        version, in_image = getattr(image_use.locked_image.expected, fact, None), getattr(image.facts, fact)
        if version and in_image and versions_differ(version, in_image):
            message = f"the image was built with {fact} {in_image}, but the lock expects {version}"
            yield finding_at(mark, OTHER_CONTENTS, message, _lock_hint(image_use))


def _lock_hint(image_use: _PendingImage) -> str:
    endpoint = image_use.endpoint
    command = f"fleet lock --env {endpoint.deployment.environment} {endpoint.name}"
    return f"run `{command}`, and have the change reviewed"
