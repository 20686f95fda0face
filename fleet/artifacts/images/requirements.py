"""Whether the registries have the images that endpoints are about to run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from botocore.exceptions import ClientError

from fleet.aws.images.reference import image_reference
from fleet.aws.images.registry import requested_image
from fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from fleet.findings import Finding, FindingsError
from fleet.spec.project import Project
from fleet.spec.source import finding_at

DENIED = "AccessDeniedException"


def require_images(ecr: Callable[[], Any], project: Project, endpoints: Sequence[ResolvedEndpoint]) -> None:
    """Check that each image of a spec's own exists; ECR is called only if there is one.

    An image that the caller may not see passes: the endpoint's role pulls it, and not the caller.

    Raises:
        FindingsError: a registry does not have an image, or no longer.
        ClientError: AWS refuses otherwise.
    """
    own = [each for each in endpoints if each.image.is_own]
    findings = [finding for each in own if (finding := _missing(ecr(), project, each))]
    if findings:
        raise FindingsError(findings)


def _missing(ecr: Any, project: Project, endpoint: ResolvedEndpoint) -> Finding | None:
    uri, name, environment = endpoint.image.uri, endpoint.name, endpoint.place.environment
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
