"""What a lock records of an endpoint's image, and how the two may differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fleet.artifacts.images.record import built_image
from fleet.artifacts.images.source import IMAGE, ImageSource, image_source
from fleet.artifacts.sources.spec_sources import Connect, no_s3
from fleet.aws.api.errors import aws_errors_as_findings
from fleet.aws.images.reference import image_reference
from fleet.aws.images.registry import read_image
from fleet.endpoint.resolve import place_of
from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.spec.environment import LOCAL, Environment
from fleet.spec.image import PLATFORM, ImageFacts, LockedImage, OwnImage
from fleet.spec.lock import Lock
from fleet.spec.project import LoadedSpec, Project
from fleet.spec.source import finding_at, moved_to

NOT_BUILT, STALE = "FL968", "FL969"


def no_ecr() -> Any:
    """The stand-in for the client of ECR where no registry may be asked.

    Raises:
        CannotRunError: always.
    """
    raise CannotRunError("an image is in ECR, which this command does not read", "run `fleet lock` first")


@dataclass(frozen=True)
class ImageClients:
    """Create the clients of S3 and ECR; called only if a spec has an image that the lock does not know."""

    s3: Connect = no_s3
    ecr: Callable[[], Any] = no_ecr


def locked_image(
    loaded: LoadedSpec, environment: Environment, clients: ImageClients, held: Lock | None
) -> LockedImage | None:
    """What a new lock records of the image; None where the endpoint runs the release's.

    Without AWS, what a former lock records of the same key is kept. Facts of an image that exists already are
    read where the credentials allow it.

    Raises:
        FindingsError: the image is not built yet, its folder is wrong, or the registry does not have it.
        CannotRunError: S3 is needed and cannot be read.
    """
    image, before = loaded.spec.image, held.image if held else None
    if image is None or environment.environment == LOCAL:
        return None
    if image.uri is not None and image.digest is not None:
        if before is not None and before.digest == image.digest and before.facts is not None:
            return before.model_copy(update={"key": None})
        return LockedImage(digest=image.digest, facts=_facts(loaded, image, clients))
    source = image_source(loaded, environment)
    if source is None:
        return None
    place = place_of(environment)
    try:
        s3 = clients.s3()
        with aws_errors_as_findings(place):
            found = built_image(s3, place, source.key)
    except CannotRunError:
        if before is not None and before.key == source.key:
            return before
        raise
    if found is None:
        raise FindingsError([_not_built(source, environment)])
    return found.locked


def image_changes(project: Project, loaded: LoadedSpec, lock: Lock | None) -> list[Finding]:
    """What is wrong or doubtful with the folder of an image, and how the lock differs from it."""
    try:
        source = image_source(loaded, project.environment)
    except FindingsError as error:
        return list(error.findings)
    if source is None:
        return []
    findings = list(source.warnings)
    if lock is not None and lock.image is not None and lock.image.key != source.key:
        environment, endpoint = project.environment.environment, loaded.spec.endpoint
        message = "the folder, its arguments or the release changed since the lock was written"
        hint = (
            f"run `fleet images build --env {environment} {endpoint}`, then"
            f" `fleet lock --env {environment} {endpoint}`, and have the change reviewed"
        )
        findings.append(finding_at(source.mark, STALE, message, hint))
    return findings


def _facts(loaded: LoadedSpec, image: OwnImage, clients: ImageClients) -> ImageFacts | None:
    """What the registry shows of an image; None where the credentials do not allow to read it.

    Raises:
        FindingsError: the registry does not have it, or SageMaker could not run it, at the spec's digest.
    """
    mark = loaded.source.mark((*IMAGE, "digest"))
    try:
        found = read_image(clients.ecr(), image_reference(f"{image.uri}@{image.digest}"), layers=False)
    except CannotRunError:
        return None
    except FindingsError as error:
        raise FindingsError([moved_to(mark, each) for each in error.findings]) from error
    if found.index:
        message = "the digest is of an index of images, which SageMaker refuses"
        hint = f"write the digest of the image for {PLATFORM} in it: {found.image.digest}"
        raise FindingsError([finding_at(mark, "FL976", message, hint)])
    return found.facts


def _not_built(source: ImageSource, environment: Environment) -> Finding:
    name = environment.environment
    message = f"the image of {source.endpoint} is not built in {name!r}"
    hint = f"run `fleet images build --env {name} {source.endpoint}`, then this command again"
    return finding_at(source.mark, NOT_BUILT, message, hint)
