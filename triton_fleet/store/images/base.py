"""The digest of the release's image that a build stands on, read from the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.errors import DENIAL_CODES, aws_errors_as_findings
from triton_fleet.awsapi.images.reference import ImageReference, image_reference
from triton_fleet.awsapi.images.registry import requested_image
from triton_fleet.catalog.images import Image
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.spec.source import finding_at
from triton_fleet.store.images.source import ImageSource, WantedImage

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
        if found is None:
            problem = f"the registry does not have {image.uri}, on which {source.endpoint} is built: {reason}"
            hint = f"write a release for `triton` that has an image in {image.region}"
            raise FindingsError([finding_at(source.mark, MISSING, problem, hint)])
        return str(found["imageId"]["imageDigest"])
