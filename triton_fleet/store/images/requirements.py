"""Whether the registries have the images that endpoints are about to run, and whether they may run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.images.pinned_release import pinned_release_findings
from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.context.registries import is_fleet_repository
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import Project
from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.source import finding_at
from triton_fleet.store.images.record import built_image
from triton_fleet.store.images.source import image_difference, image_source
from triton_fleet.store.ownership import OF_BUILD, Owners

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

REQUESTS_AT_ONCE = 16
DENIED = "AccessDeniedException"
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
        return _missing(client, project, endpoint) or _foreign(s3, project, endpoint, owners)

    findings = [each for each in all_in_parallel(own, problem, REQUESTS_AT_ONCE) if each is not None]
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


def _is_built(s3: S3Client, project: Project, endpoint: ResolvedEndpoint, locked: LockedImage) -> bool:
    """Whether the build of the endpoint's own folder, on the base that the lock names, made the image."""
    try:
        source = image_source(project.load(endpoint.name), project.environment)
        if source is None or locked.key is None or image_difference(source, locked):
            return False
        found = built_image(s3, endpoint.deployment, locked.key)
    except FindingsError:  # the folder is not what a build would take, or the record is damaged
        return False
    return found is not None and found.record.digest == locked.digest


def _missing(ecr: Any, project: Project, endpoint: ResolvedEndpoint) -> Finding | None:
    uri, name, environment = endpoint.image.uri, endpoint.name, endpoint.deployment.environment
    try:
        found, reason = requested_image(ecr, image_reference(uri))
    except ClientError as error:
        if error.response["Error"]["Code"] == DENIED:
            return None
        raise
    if found is not None:
        return None
    own = endpoint.spec.own_image
    hint = (
        f"run `fleet images build --env {environment} {name}`, then `fleet lock --env {environment} {name}`"
        if own is not None and own.build is not None
        else "write the digest of an image that the repository has; `fleet images inspect` shows it"
    )
    message = f"the image of {name}, {uri}, does not exist: {reason}"
    return finding_at(project.load(name).source.mark(("image",)), "FL628", message, hint)
