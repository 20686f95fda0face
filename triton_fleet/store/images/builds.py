"""The digest of the release's image that a build stands on, read from the registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.errors import DENIED, aws_errors_as_findings
from triton_fleet.awsapi.images.reference import ImageReference, image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.catalog.images import Image
from triton_fleet.findings import CannotRunError, Finding, FindingsError, all_of
from triton_fleet.project.project import Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.codebuild import Builders
from triton_fleet.store.builds.run import BuildTerms, run_builds
from triton_fleet.store.builds.script import ScriptUpload
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.images.record import BuiltImage, built_image
from triton_fleet.store.images.source import ImageSource, WantedImage
from triton_fleet.store.images.task import ImageTask
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.upload.archives import Uploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MISSING = "FL628"


class BaseImages:
    """The bases of builds with the digests that their tags name now; the registry is asked for each once."""

    def __init__(self, ecr: Callable[[], Any]) -> None:
        self._ecr = ecr
        self._digests: dict[str, str] = {}

    def of(self, image: WantedImage) -> Image:
        """The base of a build with its digest: a known one, else the one that the registry gives for the tag.

        A tag of several platforms has the digest of their index, by which Docker pulls the right one.

        Raises:
            FindingsError: the registry does not have the release's image.
            CannotRunError: AWS refuses or does not answer.
        """
        if image.base.digest is not None:
            return image.base
        uri = image.base.uri
        if uri not in self._digests:
            self._digests[uri] = self._read(image.first, image_reference(uri))
        return replace(image.base, digest=self._digests[uri])

    def _read(self, source: ImageSource, image: ImageReference) -> str:
        with aws_errors_as_findings():
            try:
                found, reason = requested_image(self._ecr(), image)
            except ClientError as error:
                if error.response["Error"]["Code"] not in DENIED:
                    raise
                message = error.response["Error"].get("Message", "")
                problem = (
                    f"no permission to read the digest of {image.uri}, on which {source.endpoint} is built"
                )
                remedy = (
                    f"allow ecr:BatchGetImage on {image.repository_arn}, or write `image_digest` in the spec"
                )
                raise CannotRunError(f"{problem}: {message}", remedy) from error
        if found is None:
            problem = f"the registry does not have {image.uri}, on which {source.endpoint} is built: {reason}"
            hint = f"write a release for `triton` that has an image in {image.region}"
            raise FindingsError([finding_at(source.mark, MISSING, problem, hint)])
        return str(found["imageId"]["imageDigest"])


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
    place, settings = project.place, project.environment.engine_builds
    recorded = {image.key: found for image in images if (found := built_image(s3, place, image.key))}
    known = {key: each for key, each in recorded.items() if _is_stored(ecr(), place, each.record.digest)}
    lost = {key: each.record.digest for key, each in recorded.items() if key not in known}
    lacking = [image for image in images if image.key not in known]
    if not lacking:
        return ImageBuilds(images=known, built=(), findings=())

    bases = BaseImages(ecr)
    pinned = all_of(lacking, lambda each: (each, bases.of(each)))
    clients = builders()
    with Uploads(s3) as uploads, progress.builds():
        script = ScriptUpload(s3, place.bucket)
        tasks = [
            ImageTask(clients, place, uploads, script, each, base, settings.timeout, lost.get(each.key))
            for each, base in pinned
        ]
        terms = BuildTerms(at_once=settings.at_once, pace=pace, progress=progress.build, stop=uploads.cancel)
        outcomes = run_builds(clients, place.bucket, tasks, terms)
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


def _is_stored(ecr: Any, place: Deployment, digest: str) -> bool:
    """Whether the environment's repository has an image."""
    found, _ = requested_image(
        ecr, image_reference(f"{place.image_registry}/{place.image_repository}@{digest}")
    )
    return found is not None
