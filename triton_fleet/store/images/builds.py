"""Builds the images that the repository lacks, several in parallel, each one once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.findings import Finding, all_of
from triton_fleet.project.project import Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.store.builds.clients import Builders
from triton_fleet.store.builds.run import BuildTerms, run_builds
from triton_fleet.store.builds.script import ScriptUpload
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.images.base import BaseImages
from triton_fleet.store.images.record import BuiltImage, built_image
from triton_fleet.store.images.source import WantedImage
from triton_fleet.store.images.task import ImageTask
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.upload.archives import Uploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True, kw_only=True)
class ImageBuilds:
    """The images that exist, by key, the keys of those that were built now, and why others are missing."""

    images: Mapping[str, BuiltImage]
    built: Sequence[str]
    findings: tuple[Finding, ...]


def build_images(
    s3: S3Client,
    ecr: Callable[[], Any],
    project: Project,
    images: Sequence[WantedImage],
    progress: PublishProgress,
    builders: Builders,
    pace: Pace,
) -> ImageBuilds:
    """Build the images that the repository lacks, those that were deleted too; others need no CodeBuild.

    A base without a digest is what the registry has under the release's tag now.

    Raises:
        CannotRunError: Foundation has no project of images, or the account's quota of builds is used up.
        FindingsError: the record of an image cannot be read, or the registry lacks the release's image.
        ClientError: AWS refuses.
    """
    deployment, settings = project.deployment, project.environment.engine_builds
    recorded = {image.key: found for image in images if (found := built_image(s3, deployment, image.key))}
    known = {key: each for key, each in recorded.items() if _is_stored(ecr(), deployment, each.record.digest)}
    lost = {key: each.record.digest for key, each in recorded.items() if key not in known}
    lacking = [image for image in images if image.key not in known]
    if not lacking:
        return ImageBuilds(images=known, built=(), findings=())

    bases = BaseImages(ecr)
    pinned = all_of(lacking, lambda each: (each, bases.of(each)))
    clients = builders()
    with Uploads(s3) as uploads, progress.builds():
        script = ScriptUpload(s3, deployment.bucket)
        tasks = [
            ImageTask(clients, deployment, uploads, script, each, base, settings.timeout, lost.get(each.key))
            for each, base in pinned
        ]
        terms = BuildTerms(at_once=settings.at_once, pace=pace, progress=progress.build, stop=uploads.cancel)
        outcomes = run_builds(clients, deployment.bucket, tasks, terms)
    made = {
        image.key: each.result
        for image, each in zip(lacking, outcomes, strict=True)
        if each.result is not None
    }
    return ImageBuilds(
        images=known | made,
        built=[image.key for image, each in zip(lacking, outcomes, strict=True) if each.was_built],
        findings=tuple(finding for outcome in outcomes for finding in outcome.findings),
    )


def _is_stored(ecr: Any, deployment: Deployment, digest: str) -> bool:
    """Whether the environment's repository has an image."""
    found, _ = requested_image(
        ecr, image_reference(f"{deployment.image_registry}/{deployment.image_repository}@{digest}")
    )
    return found is not None
