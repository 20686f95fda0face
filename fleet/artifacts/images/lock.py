"""What a lock records of an endpoint's image, and how the two may differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fleet.artifacts.images.base import BaseImages, base_of_lock, known_base
from fleet.artifacts.images.record import built_image
from fleet.artifacts.images.source import IMAGE, ImageSource, image_source
from fleet.artifacts.sources.spec_sources import Connect, no_s3
from fleet.aws.api.errors import aws_errors_as_findings
from fleet.aws.images.reference import image_reference
from fleet.aws.images.registry import read_image
from fleet.catalog.images import Image
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
    raise CannotRunError("an image is in ECR, which this command does not read")


@dataclass(frozen=True)
class ImageClients:
    """Create the clients of S3 and ECR, each called only if a spec has an image of its own."""

    s3: Connect = no_s3
    ecr: Callable[[], Any] = no_ecr

    @cached_property
    def bases(self) -> BaseImages:
        """The bases of all specs' builds."""
        return BaseImages(self.ecr)


def locked_image(
    loaded: LoadedSpec, environment: Environment, clients: ImageClients, held: Lock | None
) -> LockedImage | None:
    """What a new lock records of the image; None where the endpoint runs the release's.

    Without AWS, what a former lock records of the same key is kept; where only the registry of the release's
    image does not answer, its former digest counts. Facts of an image that exists already are read where the
    credentials allow it.

    Raises:
        FindingsError: the image is not built yet, its folder is wrong, or the registry does not have it.
        CannotRunError: S3 or the registry of the release's image is needed and cannot be read.
    """
    image, before = loaded.spec.own_image, held.image if held else None
    if image is None or environment.environment == LOCAL:
        return None
    if image.uri is not None and image.digest is not None:
        if before is not None and before.digest == image.digest and before.facts is not None:
            return before.model_copy(update={"key": None, "base": None})
        return LockedImage(digest=image.digest, facts=_facts(loaded, image, clients))
    source = image_source(loaded, environment)
    return _locked_build(source, environment, clients, before) if source is not None else None


def _locked_build(
    source: ImageSource, environment: Environment, clients: ImageClients, before: LockedImage | None
) -> LockedImage:
    former, refusal = base_of_lock(source, before), None
    try:
        base = clients.bases.of(source)
    except CannotRunError as error:
        if former is None:
            raise
        base, refusal = former, error
    key, place = source.key_on(base), place_of(environment)
    try:
        s3 = clients.s3()
        with aws_errors_as_findings(place):
            found = built_image(s3, place, key)
    except CannotRunError:
        if before is not None and before.key == key:
            return before
        raise
    if found is not None:
        return found.locked_on(base)
    if refusal is not None:
        raise refusal
    raise FindingsError([_not_built(source, environment, base, before)])


def image_changes(project: Project, loaded: LoadedSpec, lock: Lock | None) -> list[Finding]:
    """What is wrong or doubtful with the folder of an image, and how the lock differs from it."""
    try:
        source = image_source(loaded, project.environment)
    except FindingsError as error:
        return list(error.findings)
    if source is None:
        return []
    findings = list(source.warnings)
    if lock is not None and lock.image is not None and (message := image_difference(source, lock.image)):
        environment, endpoint = project.environment.environment, loaded.spec.endpoint
        hint = (
            f"run `fleet images build --env {environment} {endpoint}`, then"
            f" `fleet lock --env {environment} {endpoint}`, and have the change reviewed"
        )
        findings.append(finding_at(source.mark, STALE, message, hint))
    return findings


def image_difference(source: ImageSource, locked: LockedImage) -> str:
    """How a lock's image differs from the one of the folder; "" where it does not."""
    base, wanted = known_base(source, locked), source.base.digest
    if base is not None and source.key_on(base) == locked.key:
        return ""
    if wanted is not None and locked.base not in (None, wanted):
        return f"the lock's image is built on {locked.base}, but `image_digest` of the spec is {wanted}"
    if wanted is None and locked.base is None and locked.key is not None:
        return "the lock does not record the digest of the release's image that its image is built on"
    return "the folder, its arguments or the release changed since the lock was written"


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
        message = "the digest names an image index, which SageMaker refuses"
        hint = f"write the digest of the image for {PLATFORM} in it: {found.image.digest}"
        raise FindingsError([finding_at(mark, "FL976", message, hint)])
    return found.facts


def _not_built(
    source: ImageSource, environment: Environment, base: Image, before: LockedImage | None
) -> Finding:
    name, former = environment.environment, known_base(source, before)
    message = f"the image of {source.endpoint} is not built in {name!r}"
    hint = f"run `fleet images build --env {name} {source.endpoint}`, then this command again"
    if former is not None and former.digest != base.digest:
        message += f": since the lock was written, the tag {source.base.name} moved to {base.digest}"
        hint += f"; or write `image_digest: {former.digest}`, on which the lock's image is built"
    return finding_at(source.mark, NOT_BUILT, message, hint)
