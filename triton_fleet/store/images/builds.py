"""The digest of the release's image that a build stands on, read from the registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.errors import DENIAL_CODES, aws_errors_as_findings
from triton_fleet.awsapi.images.reference import ImageReference, image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.catalog.images import Image
from triton_fleet.findings import CannotRunError, FindingsError, all_of
from triton_fleet.project.project import Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.codebuild import Builders
from triton_fleet.store.builds.run import Builds, run_builds
from triton_fleet.store.builds.script import ScriptUpload
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.images.record import BuiltImage, built_image
from triton_fleet.store.images.source import ImageSource, WantedImage
from triton_fleet.store.images.task import ImageTask
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.upload.archives import Uploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

NO_RELEASE_IMAGE = "FL628"


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
                details, reason = requested_image(self._ecr(), image)
            except ClientError as error:
                if error.response["Error"]["Code"] not in DENIAL_CODES:
                    raise
                message = error.response["Error"].get("Message", "")
                problem = (
                    f"no permission to read the digest of {image.uri}, on which {source.endpoint} is built"
                )
                remedy = (
                    f"allow ecr:BatchGetImage on {image.repository_arn}, or write `image_digest` in the spec"
                )
                raise CannotRunError(f"{problem}: {message}", remedy) from error
        if details is None:
            problem = f"the registry does not have {image.uri}, on which {source.endpoint} is built: {reason}"
            hint = f"write a release for `triton` that has an image in {image.region}"
            raise FindingsError([finding_at(source.mark, NO_RELEASE_IMAGE, problem, hint)])
        return str(details["imageId"]["imageDigest"])


def build_images(
    s3: S3Client,
    ecr: Callable[[], Any],
    project: Project,
    images: Sequence[WantedImage],
    progress: PublishProgress,
    builders: Builders,
    pace: Pace,
) -> Builds[BuiltImage]:
    """Build the images that the repository lacks, those that were deleted too; others need no CodeBuild.

    A base without a digest is what the registry has under the release's tag now.

    Raises:
        CannotRunError: Foundation has no project of images, or the account's quota of builds is used up.
        FindingsError: the record of an image cannot be read, or the registry lacks the release's image.
        ClientError: AWS refuses.
    """
    deployment, timeout = project.deployment, project.environment.engine_builds.timeout
    records = {image.key: record for image in images if (record := built_image(s3, deployment, image.key))}
    digests = {key: image.record.digest for key, image in records.items()}
    kept_records = {
        key: image for key, image in records.items() if _is_stored(ecr(), deployment, digests[key])
    }
    lost_digests = {key: digest for key, digest in digests.items() if key not in kept_records}
    absent = [image for image in images if image.key not in kept_records]
    if not absent:
        return Builds(kept_records)

    bases = BaseImages(ecr)
    base_images = all_of(absent, bases.of)
    clients = builders()
    with Uploads(s3) as uploads, progress.builds():
        script = ScriptUpload(s3, deployment.bucket)
        tasks = {
            image.key: ImageTask(
                clients, deployment, uploads, script, image, base, timeout, lost_digests.get(image.key)
            )
            for image, base in zip(absent, base_images, strict=True)
        }
        return run_builds(clients, project, tasks, kept_records, uploads, progress, pace)


def _is_stored(ecr: Any, deployment: Deployment, digest: str) -> bool:
    """Whether the environment's repository has an image."""
    image, _ = requested_image(
        ecr, image_reference(f"{deployment.image_registry}/{deployment.image_repository}@{digest}")
    )
    return image is not None
