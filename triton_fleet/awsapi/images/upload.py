"""Images, pushed to a repository of Amazon ECR without Docker: layers in parts, then the manifest.

Source: ECR's API reference, BatchCheckLayerAvailability, InitiateLayerUpload, UploadLayerPart,
CompleteLayerUpload and PutImage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.errors import DENIAL_CODES, aws_errors_as_findings
from triton_fleet.awsapi.images.download import BlobStream
from triton_fleet.awsapi.images.manifest import Blob
from triton_fleet.awsapi.images.reference import ImageReference
from triton_fleet.awsapi.images.registry import NO_REPOSITORY, StoredManifest, requested_image
from triton_fleet.findings import CannotRunError, Finding, FindingsError

MAX_PART_BYTES = 20 << 20
"""Bytes of a layer that UploadLayerPart takes at one time."""
MAX_DIGESTS = 100
"""Digests that BatchCheckLayerAvailability takes at one time."""
ACTIONS = (
    "ecr:BatchGetImage, BatchCheckLayerAvailability, InitiateLayerUpload, UploadLayerPart,"
    " CompleteLayerUpload and PutImage"
)
TAG_EXISTS = "ImageTagAlreadyExistsException"
NO_UPLOAD = "UploadNotFoundException"


@dataclass(frozen=True, kw_only=True)
class TargetRepository:
    """The repository that images are pushed to.

    Attributes:
        ecr: The client of its account and region.
        image: Any image of it: what names the repository.
        remedy: What to do where it does not exist.
    """

    ecr: Any
    image: ImageReference
    remedy: str

    def tagged_digest(self, tag: str) -> str | None:
        """The digest that a tag names; None where the repository has no such tag.

        Raises:
            CannotRunError: AWS refuses or does not answer.
        """
        with self._errors():
            manifest, _ = requested_image(self.ecr, self.image.with_tag(tag))
        return None if manifest is None else str(manifest["imageId"]["imageDigest"])

    def missing_blobs(self, blobs: Sequence[Blob]) -> list[Blob]:
        """The layers that the repository lacks, each once.

        Raises:
            CannotRunError: there is no repository, or AWS refuses or does not answer.
        """
        absent_blobs = {blob.digest: blob for blob in blobs}
        digests = list(absent_blobs)
        with self._errors():
            for start in range(0, len(digests), MAX_DIGESTS):
                answer = self.ecr.batch_check_layer_availability(
                    **self._place, layerDigests=digests[start : start + MAX_DIGESTS]
                )
                for layer in answer["layers"]:
                    if layer["layerAvailability"] == "AVAILABLE":
                        absent_blobs.pop(layer["layerDigest"], None)
        return list(absent_blobs.values())

    def upload(self, blob: Blob, source: BlobStream, advance: Callable[[int], None]) -> None:
        """Upload a layer as it is read; `advance` is called with the bytes of each part.

        Raises:
            UnreadableError: the source has other bytes than those of the digest.
            CannotRunError: the source breaks off, or AWS refuses or does not answer.
        """
        with self._errors():
            answer = self.ecr.initiate_layer_upload(**self._place)
        upload, part = answer["uploadId"], min(answer["partSize"], MAX_PART_BYTES)
        first = 0
        while content := source.read_exact(part):
            with self._errors():
                self._upload_part(upload, first, content)
            first += len(content)
            advance(len(content))
        source.finish()
        with self._errors(), _success("LayerAlreadyExistsException"):
            try:
                self.ecr.complete_layer_upload(**self._place, uploadId=upload, layerDigests=[blob.digest])
            except ClientError as error:
                # botocore repeats a request whose answer was lost, and the upload is over by then.
                if error.response["Error"]["Code"] != NO_UPLOAD or self.missing_blobs([blob]):
                    raise

    def put(self, manifest: StoredManifest, tag: str) -> None:
        """Make an image of layers that exist, under a tag that is free or names the same image.

        Raises:
            FindingsError: the tag names another image.
            CannotRunError: AWS refuses or does not answer.
        """
        with self._errors(), _success("ImageAlreadyExistsException"):
            try:
                self.ecr.put_image(
                    **self._place,
                    imageManifest=manifest.text,
                    imageManifestMediaType=manifest.manifest.media_type,
                    imageTag=tag,
                    imageDigest=manifest.manifest.digest,
                )
            except ClientError as error:
                if error.response["Error"]["Code"] != TAG_EXISTS:
                    raise
                raise FindingsError([self.conflict(tag, manifest.manifest.digest)]) from error

    def conflict(self, tag: str, digest: str) -> Finding:
        """That a tag names another image than it should."""
        message = f"{self.image.with_tag(tag).uri} is another image than the one that was tested, {digest}"
        hint = (
            "images of one key that were built twice differ, and a tag never moves: if no endpoint runs that"
            " image, delete it with `aws ecr batch-delete-image`, and promote again"
        )
        return Finding(code="FL980", message=message, hint=hint)

    @property
    def _place(self) -> dict[str, str]:
        return {"registryId": self.image.account, "repositoryName": self.image.repository}

    def _upload_part(self, upload: str, first: int, content: bytes) -> None:
        last = first + len(content) - 1
        try:
            self.ecr.upload_layer_part(
                **self._place, uploadId=upload, partFirstByte=first, partLastByte=last, layerPartBlob=content
            )
        except ClientError as error:
            # botocore repeats a request whose answer was lost, and ECR refuses the part that it has.
            if error.response.get("lastValidByteReceived") != last:
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with aws_errors_as_findings():
            try:
                yield
            except ClientError as error:
                code, message = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
                if code == NO_REPOSITORY:
                    problem = (
                        f"the repository {self.image.repository} does not exist in {self.image.registry}"
                    )
                    raise CannotRunError(problem, self.remedy) from error
                if code in DENIAL_CODES:
                    problem = f"images may not be pushed to {self.image.repository}: {message}"
                    remedy = f"allow {ACTIONS} on {self.image.repository_arn}"
                    raise CannotRunError(problem, remedy) from error
                raise


@contextmanager
def _success(code: str) -> Iterator[None]:
    """Take an error for a success: somebody else was first."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] != code:
            raise
