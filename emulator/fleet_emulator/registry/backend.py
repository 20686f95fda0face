"""Registries: the account's own has what was pushed; SageMaker's have the Triton images of the catalog."""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from moto.core.responses import ActionResult
from moto.ecr.exceptions import (
    InvalidLayerPartException,
    InvalidParameterException,
    RepositoryNotFoundException,
    UploadNotFoundException,
)
from moto.ecr.models import ECRBackend, Repository
from moto.ecr.models import Image as OwnImage
from moto.ecr.responses import ECRResponse
from moto.ecr.urls import url_bases

from fleet_emulator.product import Image, image, regions_of, releases
from fleet_emulator.registry import images
from fleet_emulator.registry.images import RegistryError, Upload, keep_layer, layer_url
from fleet_emulator.service_urls import ServiceUrls

STAND_IN = json.dumps(
    {"schemaVersion": 2, "annotations": {"note": "a stand-in: there is no image behind it"}}
)
"""The manifest of every image of another account."""

HOURS_OF_A_TOKEN = 12
"""Source: ECR's API reference, GetAuthorizationToken."""


class EmbeddedEcr(ECRBackend):
    """One account's ECR in one region, and the manifests that it may read in SageMaker's accounts."""

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedEcrResponse.dispatch})

    def initiate_layer_upload(self, repository_name: str, registry_id: str | None = None) -> dict[str, Any]:
        """InitiateLayerUpload."""
        answer: dict[str, Any] = super().initiate_layer_upload(repository_name, registry_id)
        repository = self._get_repository(repository_name, registry_id)
        upload = Upload(repository_name, repository.registry_id)
        upload.upload_id = answer["uploadId"]
        repository.uploads[upload.upload_id] = upload
        return answer

    def upload_layer_part(
        self,
        repository_name: str,
        upload_id: str,
        part_first_byte: int,
        part_last_byte: int,
        layer_part_blob: bytes,
        registry_id: str | None = None,
    ) -> dict[str, Any]:
        """UploadLayerPart.

        Raises:
            InvalidLayerPartException: the part does not follow the one before, or has another size.
        """
        repository, upload = self._upload(repository_name, upload_id, registry_id)
        first, last = upload.last_byte_received + 1, upload.last_byte_received + len(layer_part_blob)
        if (part_first_byte, part_last_byte) != (first, last):
            raise InvalidLayerPartException(
                repository.registry_id, repository_name, upload_id, upload.last_byte_received
            )
        upload.add(layer_part_blob)
        return self._describe_upload(repository, upload, {"lastByteReceived": upload.last_byte_received})

    def complete_layer_upload(
        self, repository_name: str, upload_id: str, layer_digests: list[str], registry_id: str | None = None
    ) -> dict[str, Any]:
        """CompleteLayerUpload."""
        repository, upload = self._upload(repository_name, upload_id, registry_id)
        digest = upload.require_layer(repository, layer_digests)
        keep_layer(repository, digest, bytes(upload.layer_parts))
        del repository.uploads[upload_id]
        return self._describe_upload(repository, upload, {"layerDigest": digest})

    def download_url(self, repository_name: str, digest: str, registry_id: str | None) -> str:
        """GetDownloadUrlForLayer.

        Raises:
            RegistryError: the repository does not have the layer, or no image with it.
        """
        repository = self._get_repository(repository_name, registry_id)
        if digest not in repository.layers:
            raise images.missing_layers_error(repository, [digest])
        if not any(digest in image.blobs for image in images.images_of(repository)):
            message = "The specified layer is not available because it is not associated with an image."
            raise RegistryError("LayerInaccessibleException", message)
        return layer_url(repository, digest)

    def put_image(
        self,
        repository_name: str,
        image_manifest: str,
        image_tag: str | None,
        image_manifest_mediatype: str | None = None,
        digest: str | None = None,
    ) -> OwnImage:
        """PutImage."""
        repository = self._get_repository(repository_name)
        return images.put(repository, image_manifest, image_tag, image_manifest_mediatype, digest)

    def batch_delete_image(
        self,
        repository_name: str,
        registry_id: str | None = None,
        image_ids: list[dict[str, str]] | None = None,
    ) -> dict[str, Any]:
        """BatchDeleteImage."""
        repository = self._get_repository(repository_name, registry_id)
        return images.delete(repository, _require_ids(image_ids))

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
            repository = self._get_repository(repository_name, registry_id)
            return images.get(repository, _require_ids(image_ids))
        known_images = [
            image
            for image in self._images()
            if (image.account, image.repository) == (registry_id, repository_name)
        ]
        if not known_images:
            raise RepositoryNotFoundException(repository_name, registry_id)
        digests = {image_id.tag: _digest_of(image_id) for image_id in known_images}
        digests |= {digest: digest for digest in digests.values()}
        requests = [
            (image_id, digests.get(image_id.get("imageDigest") or image_id.get("imageTag", "")))
            for image_id in image_ids or ()
        ]
        return {
            "images": [
                {
                    "registryId": registry_id,
                    "repositoryName": repository_name,
                    "imageId": image_id | {"imageDigest": digest},
                    "imageManifest": STAND_IN,
                }
                for image_id, digest in requests
                if digest is not None
            ],
            "failures": [
                {
                    "imageId": image_id,
                    "failureCode": "ImageNotFound",
                    "failureReason": "Requested image not found",
                }
                for image_id, digest in requests
                if digest is None
            ],
        }

    def _upload(
        self, repository_name: str, upload_id: str, registry_id: str | None
    ) -> tuple[Repository, Upload]:
        repository = self._get_repository(repository_name, registry_id)
        upload = repository.uploads.get(upload_id)
        if not isinstance(upload, Upload):
            raise UploadNotFoundException(upload_id, repository_name, repository.registry_id)
        return repository, upload

    def _describe_upload(
        self, repository: Repository, upload: Upload, more: dict[str, Any]
    ) -> dict[str, Any]:
        names = {"registryId": repository.registry_id, "repositoryName": repository.name}
        return {**names, "uploadId": upload.upload_id, **more}

    def _images(self) -> list[Image]:
        release_names = [name for name in releases() if self.region_name in regions_of(name)]
        return [image(name, self.region_name, gpu=gpu) for name in release_names for gpu in (True, False)]


class EmbeddedEcrResponse(ECRResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def get_download_url_for_layer(self) -> ActionResult:  # type: ignore[override]
        """GetDownloadUrlForLayer."""
        digest = self._get_param("layerDigest")
        backend = cast(EmbeddedEcr, self.ecr_backend)
        url = backend.download_url(self._get_param("repositoryName"), digest, self._get_param("registryId"))
        return ActionResult({"downloadUrl": url, "layerDigest": digest})

    def get_authorization_token(self) -> ActionResult:
        """GetAuthorizationToken; no registry answers to the token."""
        token = b64encode(b"AWS:a stand-in: no registry answers to it").decode()
        end = datetime.now(UTC) + timedelta(hours=HOURS_OF_A_TOKEN)
        registries = self._get_param("registryIds") or [self.current_account]
        return ActionResult(
            {
                "authorizationData": [
                    {
                        "authorizationToken": token,
                        "expiresAt": end,
                        "proxyEndpoint": f"https://{registry}.dkr.ecr.{self.region}.amazonaws.com",
                    }
                    for registry in registries
                ]
            }
        )


def _require_ids(ids: list[dict[str, str]] | None) -> list[dict[str, str]]:
    if not ids or not all(ids):
        raise InvalidParameterException("Invalid request parameters: both tag and digest cannot be null")
    return ids


def _digest_of(image: Image) -> str:
    """A stand-in of the digest, which is another one for each tag."""
    return f"sha256:{hashlib.sha256(image.tag.encode()).hexdigest()}"
