"""The images of an environment's repository, as a prune sees and removes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.store.images.inventory import NO_REPOSITORY
from triton_fleet.store.prune.plan import StoredImage

BATCH = 100
"""The most images that BatchDeleteImage takes in one request; source: ECR's API reference."""
GONE = "ImageNotFound"


class ImagePrune:
    """One repository, which need not exist."""

    def __init__(self, ecr: Any, repository: str) -> None:
        self._ecr, self.repository = ecr, repository

    def stored(self) -> list[StoredImage]:
        """The images that have a tag; the others expire by the repository's own rule.

        Raises:
            ClientError: access is denied.
        """
        pages = self._ecr.get_paginator("describe_images").paginate(repositoryName=self.repository)
        try:
            return [
                StoredImage(
                    repository=self.repository,
                    digest=found["imageDigest"],
                    tags=tuple(sorted(found["imageTags"])),
                    size=found.get("imageSizeInBytes", 0),
                    pushed=found["imagePushedAt"],
                )
                for page in pages
                for found in page["imageDetails"]
                if found.get("imageTags")
            ]
        except ClientError as error:
            if error.response["Error"]["Code"] == NO_REPOSITORY:
                return []
            raise

    def remove(self, images: Sequence[StoredImage]) -> list[str]:
        """Remove images with all of their tags; return the refusals.

        Raises:
            ClientError: access is denied.
        """
        refused = []
        for start in range(0, len(images), BATCH):
            answer = self._ecr.batch_delete_image(
                repositoryName=self.repository,
                imageIds=[{"imageDigest": image.digest} for image in images[start : start + BATCH]],
            )
            refused += [
                f"{each['imageId'].get('imageDigest')}: {each['failureCode']} {each.get('failureReason', '')}"
                for each in answer["failures"]
                if each["failureCode"] != GONE
            ]
        return refused
