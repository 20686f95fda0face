"""The record of an endpoint's image in its lock, and how the two may differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.image import PLATFORM, ImageFacts, LockedImage, OwnImage
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.source import finding_at, moved_to
from triton_fleet.store.images.source import IMAGE, ImageSource, image_difference, image_source
from triton_fleet.store.sources.spec_sources import Connect

STALE = "FL969"


def no_ecr() -> Any:
    """The stand-in for the client of ECR where no registry may be asked.

    Raises:
        CannotRunError: always.
    """
    raise CannotRunError("an image is in ECR, which this command does not read")


def locked_image(
    project: Project,
    loaded_spec: LoadedSpec,
    s3: Connect,
    ecr: Callable[[], Any],
    earlier_lock: Lock | None,
) -> LockedImage | None:
    """The record of the image for a new lock; None where the endpoint runs the release's.

    The clients are created only if the spec has an image of its own.

    A build's digest and facts, and the facts of an image that exists already, are recorded where the
    credentials show them; they are expected or unknown elsewhere.

    Raises:
        FindingsError: the image's folder is wrong, or the registry does not have the image.
    """
    image, before = loaded_spec.spec.own_image, earlier_lock.image if earlier_lock else None
    if image is None or project.environment.is_local:
        return None
    if image.uri is not None and image.digest is not None:
        if before is not None and before.digest == image.digest and before.facts is not None:
            return before.model_copy(update={"key": None, "base": None})
        return LockedImage(digest=image.digest, facts=_facts(loaded_spec, image, ecr))
    source = image_source(loaded_spec, project.environment)
    return _locked_build(source, project.deployment, s3, before) if source is not None else None


def _locked_build(
    source: ImageSource, deployment: Deployment, s3: Connect, before: LockedImage | None
) -> LockedImage:
    """The image of the folder: what its build recorded, else what is expected of a build."""
    former = before if before is not None and not image_difference(source, before) else None
    try:
        try:
            client = s3()
        except FindingsError as error:  # without credentials of the environment's account
            raise CannotRunError(error.findings[0].message) from error
        from triton_fleet.store.images.record import built_image  # needs botocore, as the client does

        with aws_errors_as_findings(deployment):
            key = former.key if former is not None and former.key else source.key
            build = built_image(client, deployment, key)
    except CannotRunError:
        return former or source.locked_image
    return build.locked_image if build is not None else source.locked_image


def image_changes(project: Project, loaded_spec: LoadedSpec, lock: Lock | None) -> list[Finding]:
    """The findings on the folder of an image, and how the lock differs from it."""
    try:
        source = image_source(loaded_spec, project.environment)
    except FindingsError as error:
        return list(error.findings)
    if source is None:
        return []
    findings = list(source.warnings)
    if lock is not None and lock.image is not None and (message := image_difference(source, lock.image)):
        environment, endpoint = project.environment.environment, loaded_spec.spec.endpoint
        hint = f"run `fleet lock --env {environment} {endpoint}`, and have the change reviewed"
        findings.append(finding_at(source.mark, STALE, message, hint))
    return findings


def _facts(loaded_spec: LoadedSpec, image: OwnImage, connect: Callable[[], Any]) -> ImageFacts | None:
    """The facts that the registry shows of an image; None where the credentials do not allow to read it.

    Raises:
        FindingsError: the registry does not have it, or SageMaker could not run it, at the spec's digest.
    """
    mark = loaded_spec.source.mark((*IMAGE, "digest"))
    try:
        ecr = connect()
        from triton_fleet.awsapi.images.registry import read_image  # needs botocore, as the client does

        facts = read_image(ecr, image_reference(f"{image.uri}@{image.digest}"), layers=False)
    except CannotRunError:
        return None
    except FindingsError as error:
        raise FindingsError([moved_to(mark, finding) for finding in error.findings]) from error
    if facts.index:
        message = "the digest names an image index, which SageMaker refuses"
        hint = f"write the digest of the image for {PLATFORM} in it: {facts.image.digest}"
        raise FindingsError([finding_at(mark, "FL976", message, hint)])
    return facts.facts
