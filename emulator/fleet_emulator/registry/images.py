"""Images of the embedded ECR: their layers, their uploads, and the errors of its registry."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, cast

from botocore.auth import S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.core.exceptions import ServiceException
from moto.ecr.exceptions import ImageAlreadyExistsException, InvalidParameterException
from moto.ecr.models import Image, LayerUpload, Repository
from moto.s3.models import s3_backends
from moto.utilities.utils import get_partition

from fleet_emulator import process_state


class RegistryError(ServiceException):
    """An error of ECR that moto does not have: its code and its message.

    Source of the codes: ECR's API reference, the errors of each call. Where no public source quotes one, the
    words are ours.
    """


def missing_layers_error(repository: Repository, digests: list[str]) -> RegistryError:
    """The refusal of layers that a repository does not have."""
    return RegistryError(
        "LayersNotFoundException",
        f"Layers with digests '{', '.join(digests)}' required for pushing or pulling do not exist in the"
        f" repository with name '{repository.name}' in the registry with id '{repository.registry_id}'",
    )


OWNER = "000000000000"
"""Stands in for the account of AWS that owns the bucket: it is not listed among the caller's."""
MIN_PART_BYTES = 5 << 20
SECONDS_OF_A_URL = 3600


class Upload(LayerUpload):
    """A layer that is uploaded in parts."""

    def __init__(self, repository_name: str, registry_id: str) -> None:
        super().__init__(repository_name, registry_id)
        self._last_size = 0
        self._has_small_part = False

    def add(self, part: bytes) -> None:
        """The part that follows."""
        self._has_small_part |= 0 < self._last_size < MIN_PART_BYTES
        self._last_size = len(part)
        self.layer_parts += part

    def require_layer(self, repository: Repository, digests: list[str]) -> str:
        """The digest of the layer.

        Raises:
            RegistryError: nothing was uploaded, parts were too small, it has another digest, or exists.
        """
        if not self.layer_parts:
            message = "The specified layer upload does not contain any layer parts."
            raise RegistryError("EmptyUploadException", message)
        if self._has_small_part:
            raise RegistryError("LayerPartTooSmallException", "Layer parts must be at least 5 MiB in size.")
        digest = f"sha256:{hashlib.sha256(self.layer_parts).hexdigest()}"
        if digest not in digests:
            message = f"Layer digests '{', '.join(digests)}' do not match the digest of the layer, '{digest}'"
            raise RegistryError("InvalidLayerException", message)
        if digest in repository.layers:
            raise RegistryError(
                "LayerAlreadyExistsException",
                f"Layer with digest '{digest}' already exists in the repository with name '{repository.name}'"
                f" in registry with id '{repository.registry_id}'",
            )
        return digest


def keep_layer(repository: Repository, digest: str, content: bytes) -> None:
    """Put a layer where its URL leads."""
    s3 = s3_backends[OWNER][get_partition(repository.region_name)]
    bucket = _bucket(repository)
    if bucket not in s3.buckets:
        s3.create_bucket(bucket, repository.region_name)
    s3.put_object(bucket, _key(repository, digest), content)
    repository.layers[digest] = len(content)


def read_layer(repository: Repository, digest: str) -> bytes:
    """The content of a layer or a configuration."""
    s3 = s3_backends[OWNER][get_partition(repository.region_name)]
    layer = s3.get_object(_bucket(repository), _key(repository, digest))
    assert layer is not None  # noqa: S101 (an image names what exists)
    return bytes(layer.value)


def layer_url(repository: Repository, digest: str) -> str:
    """A URL that reads the layer for an hour."""
    state = process_state.current()
    url = f"{state.url}/{_bucket(repository)}/{_key(repository, digest)}"
    request = AWSRequest(method="GET", url=url)
    keys = state.accounts.keys_of(OWNER)
    credentials = Credentials(keys.access_key_id, keys.secret_access_key)
    S3SigV4QueryAuth(credentials, "s3", repository.region_name, expires=SECONDS_OF_A_URL).add_auth(request)
    return str(request.url)


def _bucket(repository: Repository) -> str:
    return f"prod-{repository.region_name}-starport-layer-bucket"


def _key(repository: Repository, digest: str) -> str:
    return f"{repository.registry_id}/{repository.name}/{digest.removeprefix('sha256:')}"


NOT_FOUND_FAILURE = ("ImageNotFound", "Requested image not found")
REFERENCED_FAILURE = ("ImageReferencedByManifestList", "Requested image referenced by manifest list")


class EmbeddedImage(Image):
    """An image with the digest of its manifest."""

    def __init__(self, repository: Repository, manifest: str, media_type: str, tag: str | None) -> None:
        super().__init__(
            repository.account_id, cast(str, tag), manifest, repository.name, media_type, digest_of(manifest)
        )
        self.content: Mapping[str, Any] = json.loads(manifest)

    def get_image_size_in_bytes(self) -> int | None:
        """The size of the layers as they are stored; none for an index."""
        layers = self.content.get("layers")
        return None if layers is None else sum(layer["size"] for layer in layers)

    def remove_tag(self, tag: str) -> None:
        """Take a tag away; the image stays."""
        super().remove_tag(tag)
        if not self.image_tags:
            self.image_tag = cast(str, None)

    @property
    def blobs(self) -> list[str]:
        """The digests of the configuration and the layers."""
        config = self.content.get("config")
        return [blob["digest"] for blob in ([config] if config else []) + self.content.get("layers", [])]

    @property
    def children(self) -> list[str]:
        """The digests of the images of an index."""
        return [manifest["digest"] for manifest in self.content.get("manifests", [])]


def digest_of(manifest: str) -> str:
    """The digest of a manifest's text."""
    return f"sha256:{hashlib.sha256(manifest.encode()).hexdigest()}"


def put(
    repository: Repository, manifest: str, tag: str | None, media_type: str | None, digest: str | None
) -> EmbeddedImage:
    """PutImage.

    Raises:
        ServiceException: the manifest is not one, what it names does not exist, or the tag may not move.
    """
    new = EmbeddedImage(repository, manifest, _media_type(manifest, media_type), tag)
    actual = new.get_image_digest()
    if digest not in (None, actual):
        message = f"Image digest '{digest}' does not match the digest of the manifest, '{actual}'"
        raise RegistryError("ImageDigestDoesNotMatchException", message)
    _require_parts(repository, new)
    existing_image = _find(repository, {"imageDigest": actual})
    tagged_image = _find(repository, {"imageTag": tag}) if tag is not None else None
    if existing_image is not None and (tag is None or existing_image is tagged_image):
        raise ImageAlreadyExistsException(repository.name, repository.registry_id, actual, str(tag))
    if tagged_image is not None and tag is not None:
        if _is_immutable(repository, tag):
            raise RegistryError(
                "ImageTagAlreadyExistsException",
                f"The image tag '{tag}' already exists in the '{repository.name}' repository"
                " and cannot be overwritten because the repository is immutable.",
            )
        tagged_image.remove_tag(tag)
    if existing_image is None:
        repository.images.append(new)
        return new
    existing_image.update_tag(cast(str, tag))
    return existing_image


def get(repository: Repository, ids: list[dict[str, str]]) -> dict[str, Any]:
    """BatchGetImage."""
    images = [(image_id, _find(repository, image_id)) for image_id in ids]
    return {
        "images": [
            {
                "registryId": repository.registry_id,
                "repositoryName": repository.name,
                "imageId": image_id | {"imageDigest": image.get_image_digest()},
                "imageManifest": image.image_manifest,
                "imageManifestMediaType": image.image_manifest_media_type,
            }
            for image_id, image in images
            if image is not None
        ],
        "failures": [_failure(image_id, *NOT_FOUND_FAILURE) for image_id, image in images if image is None],
    }


def delete(repository: Repository, ids: list[dict[str, str]]) -> dict[str, Any]:
    """BatchDeleteImage: an image goes by its digest, or with its last tag."""
    deleted_ids: list[dict[str, str]] = []
    failures = []
    for image_id in ids:
        image = _find(repository, image_id)
        if image is None:
            failures.append(_failure(image_id, *NOT_FOUND_FAILURE))
            continue
        tags = [image_id["imageTag"]] if "imageTag" in image_id else list(image.image_tags)
        digest = image.get_image_digest()
        ends = set(tags) == set(image.image_tags)
        if ends and any(digest in item.children for item in images_of(repository)):
            failures.append(_failure(image_id, *REFERENCED_FAILURE))
            continue
        for tag in tags:
            image.remove_tag(tag)
        if ends:
            repository.images.remove(image)
        names = [{"imageTag": tag} for tag in tags] or [{}]
        deleted_ids += [{"imageDigest": digest} | item for item in names]
    return {"imageIds": deleted_ids, "failures": failures}


def images_of(repository: Repository) -> Iterator[EmbeddedImage]:
    """The images of a repository, in the order in which they came."""
    return (image for image in repository.images if isinstance(image, EmbeddedImage))


def _find(repository: Repository, image_id: Mapping[str, str | None]) -> EmbeddedImage | None:
    digest, tag = image_id.get("imageDigest"), image_id.get("imageTag")
    return next(
        (
            image
            for image in images_of(repository)
            if digest in (None, image.get_image_digest()) and (tag is None or tag in image.image_tags)
        ),
        None,
    )


def _media_type(manifest: str, media_type: str | None) -> str:
    try:
        content = json.loads(manifest)
    except json.JSONDecodeError:
        content = None
    if not isinstance(content, dict):
        problem = "Invalid parameter at 'ImageManifest' failed to satisfy constraint: 'Invalid JSON syntax'"
        raise InvalidParameterException(problem)
    media_type = media_type or content.get("mediaType")
    if media_type is None:
        raise InvalidParameterException("image manifest mediatype not provided in manifest or parameter")
    return media_type


def _require_parts(repository: Repository, image: EmbeddedImage) -> None:
    missing_digests = [digest for digest in image.blobs if digest not in repository.layers]
    if missing_digests:
        raise missing_layers_error(repository, missing_digests)
    digests = {other_image.get_image_digest() for other_image in images_of(repository)}
    if not digests.issuperset(image.children):
        message = "The manifest list is referencing an image that does not exist."
        raise RegistryError("ReferencedImagesNotFoundException", message)


def _is_immutable(repository: Repository, tag: str) -> bool:
    filters = repository.image_tag_mutability_exclusion_filters or []
    is_excluded = any(fnmatchcase(tag, exclusion["filter"]) for exclusion in filters)
    return repository.is_tag_immutable() != is_excluded


def _failure(image_id: dict[str, str], code: str, reason: str) -> dict[str, Any]:
    return {"imageId": image_id, "failureCode": code, "failureReason": reason}
