"""Registries: the account's own is moto's; those of SageMaker's Triton images have the catalog's images."""

from __future__ import annotations

import hashlib
import json
from types import ModuleType
from typing import Any

from moto.ecr import urls
from moto.ecr.exceptions import RepositoryNotFoundException
from moto.ecr.models import ECRBackend

from fleet_emulator.product import Image, image, regions_of, releases

STAND_IN = json.dumps(
    {"schemaVersion": 2, "annotations": {"note": "a stand-in: there is no image behind it"}}
)
"""The manifest of every image of another account."""


class EmbeddedEcr(ECRBackend):
    """One account's ECR in one region, and the manifests that it may read in SageMaker's accounts."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def batch_get_image(
        self,
        repository_name: str,
        registry_id: str | None = None,
        image_ids: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """BatchGetImage.

        Raises:
            RepositoryNotFoundException: the catalog knows no such repository of another account.
        """
        if registry_id in (None, self.account_id):
            answer: dict[str, Any] = super().batch_get_image(repository_name, registry_id, image_ids)
            return answer
        known = [
            each
            for each in self._images()
            if (each.account, each.repository) == (registry_id, repository_name)
        ]
        if not known:
            raise RepositoryNotFoundException(repository_name, registry_id)
        digests = {each.tag: _digest_of(each) for each in known}
        digests |= {digest: digest for digest in digests.values()}
        asked = [
            (each, digests.get(each.get("imageDigest") or each.get("imageTag", "")))
            for each in image_ids or ()
        ]
        return {
            "images": [
                {
                    "registryId": registry_id,
                    "repositoryName": repository_name,
                    "imageId": each | {"imageDigest": digest},
                    "imageManifest": STAND_IN,
                }
                for each, digest in asked
                if digest is not None
            ],
            "failures": [
                {
                    "imageId": each,
                    "failureCode": "ImageNotFound",
                    "failureReason": "Requested image not found",
                }
                for each, digest in asked
                if digest is None
            ],
        }

    def _images(self) -> list[Image]:
        there = [name for name in releases() if self.region_name in regions_of(name)]
        return [image(name, self.region_name, gpu=gpu) for name in there for gpu in (True, False)]


def _digest_of(image: Image) -> str:
    """A stand-in of the digest, which is another one for each tag."""
    return f"sha256:{hashlib.sha256(image.tag.encode()).hexdigest()}"
