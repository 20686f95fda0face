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


class EmptyUploadError(ServiceException):
    """CompleteLayerUpload without any part."""

    code = "EmptyUploadException"
    message = "The specified layer upload does not contain any layer parts."


class InvalidLayerError(ServiceException):
    """CompleteLayerUpload with the digest of other bytes."""

    code = "InvalidLayerException"

    def __init__(self, digests: list[str], actual: str) -> None:
        super().__init__(
            f"Layer digests '{', '.join(digests)}' do not match the digest of the layer, '{actual}'"
        )


class LayerPartTooSmallError(ServiceException):
    """CompleteLayerUpload where a part that is not the last one was small."""

    code = "LayerPartTooSmallException"
    message = "Layer parts must be at least 5 MiB in size."


class LayerAlreadyExistsError(ServiceException):
    """CompleteLayerUpload of a layer that the repository has."""

    code = "LayerAlreadyExistsException"

    def __init__(self, repository: str, registry: str, digest: str) -> None:
        super().__init__(
            f"Layer with digest '{digest}' already exists in the repository with name '{repository}'"
            f" in registry with id '{registry}'"
        )


class LayersNotFoundError(ServiceException):
    """The repository has no such layer."""

    code = "LayersNotFoundException"

    def __init__(self, repository: str, registry: str, digests: list[str]) -> None:
        super().__init__(
            f"Layers with digests '{', '.join(digests)}' required for pushing or pulling do not exist"
            f" in the repository with name '{repository}' in the registry with id '{registry}'"
        )


class LayerInaccessibleError(ServiceException):
    """No image of the repository has the layer."""

    code = "LayerInaccessibleException"
    message = "The specified layer is not available because it is not associated with an image."


class ReferencedImagesNotFoundError(ServiceException):
    """An index names an image that the repository does not have."""

    code = "ReferencedImagesNotFoundException"
    message = "The manifest list is referencing an image that does not exist."


class ImageDigestDoesNotMatchError(ServiceException):
    """PutImage with the digest of another manifest."""

    code = "ImageDigestDoesNotMatchException"

    def __init__(self, digest: str, actual: str) -> None:
        super().__init__(f"Image digest '{digest}' does not match the digest of the manifest, '{actual}'")


class ImageTagAlreadyExistsError(ServiceException):
    """A tag that may not be moved to another image."""

    code = "ImageTagAlreadyExistsException"

    def __init__(self, repository: str, tag: str) -> None:
        super().__init__(
            f"The image tag '{tag}' already exists in the '{repository}' repository"
            " and cannot be overwritten because the repository is immutable."
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
            ServiceException: nothing was uploaded, parts were too small, it has another digest, or exists.
        """
        if not self.layer_parts:
            raise EmptyUploadError
        if self._has_small_part:
            raise LayerPartTooSmallError
        digest = f"sha256:{hashlib.sha256(self.layer_parts).hexdigest()}"
        if digest not in digests:
            raise InvalidLayerError(digests, digest)
        if digest in repository.layers:
            raise LayerAlreadyExistsError(repository.name, repository.registry_id, digest)
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
    found = s3.get_object(_bucket(repository), _key(repository, digest))
    assert found is not None  # noqa: S101 (an image names what exists)
    return bytes(found.value)


def layer_url(repository: Repository, digest: str) -> str:
    """A URL that reads the layer for an hour."""
    running = process_state.current()
    url = f"{running.url}/{_bucket(repository)}/{_key(repository, digest)}"
    request = AWSRequest(method="GET", url=url)
    keys = running.accounts.keys_of(OWNER)
    credentials = Credentials(keys.access_key_id, keys.secret_access_key)
    S3SigV4QueryAuth(credentials, "s3", repository.region_name, expires=SECONDS_OF_A_URL).add_auth(request)
    return str(request.url)


def _bucket(repository: Repository) -> str:
    return f"prod-{repository.region_name}-starport-layer-bucket"


def _key(repository: Repository, digest: str) -> str:
    return f"{repository.registry_id}/{repository.name}/{digest.removeprefix('sha256:')}"


NOT_FOUND = ("ImageNotFound", "Requested image not found")
REFERENCED = ("ImageReferencedByManifestList", "Requested image referenced by manifest list")


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
        return [each["digest"] for each in ([config] if config else []) + self.content.get("layers", [])]

    @property
    def children(self) -> list[str]:
        """The digests of the images of an index."""
        return [each["digest"] for each in self.content.get("manifests", [])]


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
        raise ImageDigestDoesNotMatchError(str(digest), actual)
    _require_parts(repository, new)
    held = _find(repository, {"imageDigest": actual})
    tagged = _find(repository, {"imageTag": tag}) if tag is not None else None
    if held is not None and (tag is None or held is tagged):
        raise ImageAlreadyExistsException(repository.name, repository.registry_id, actual, str(tag))
    if tagged is not None and tag is not None:
        if _is_immutable(repository, tag):
            raise ImageTagAlreadyExistsError(repository.name, tag)
        tagged.remove_tag(tag)
    if held is None:
        repository.images.append(new)
        return new
    held.update_tag(cast(str, tag))
    return held


def get(repository: Repository, ids: list[dict[str, str]]) -> dict[str, Any]:
    """BatchGetImage."""
    found = [(each, _find(repository, each)) for each in ids]
    return {
        "images": [
            {
                "registryId": repository.registry_id,
                "repositoryName": repository.name,
                "imageId": asked | {"imageDigest": image.get_image_digest()},
                "imageManifest": image.image_manifest,
                "imageManifestMediaType": image.image_manifest_media_type,
            }
            for asked, image in found
            if image is not None
        ],
        "failures": [_failure(asked, *NOT_FOUND) for asked, image in found if image is None],
    }


def delete(repository: Repository, ids: list[dict[str, str]]) -> dict[str, Any]:
    """BatchDeleteImage: an image goes by its digest, or with its last tag."""
    deleted: list[dict[str, str]] = []
    failures = []
    for asked in ids:
        image = _find(repository, asked)
        if image is None:
            failures.append(_failure(asked, *NOT_FOUND))
            continue
        tags = [asked["imageTag"]] if "imageTag" in asked else list(image.image_tags)
        digest = image.get_image_digest()
        ends = set(tags) == set(image.image_tags)
        if ends and any(digest in each.children for each in images_of(repository)):
            failures.append(_failure(asked, *REFERENCED))
            continue
        for tag in tags:
            image.remove_tag(tag)
        if ends:
            repository.images.remove(image)
        named = [{"imageTag": tag} for tag in tags] or [{}]
        deleted += [{"imageDigest": digest} | each for each in named]
    return {"imageIds": deleted, "failures": failures}


def images_of(repository: Repository) -> Iterator[EmbeddedImage]:
    """The images of a repository, in the order in which they came."""
    return (image for image in repository.images if isinstance(image, EmbeddedImage))


def _find(repository: Repository, asked: Mapping[str, str | None]) -> EmbeddedImage | None:
    digest, tag = asked.get("imageDigest"), asked.get("imageTag")
    return next(
        (
            each
            for each in images_of(repository)
            if digest in (None, each.get_image_digest()) and (tag is None or tag in each.image_tags)
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
    missing = [digest for digest in image.blobs if digest not in repository.layers]
    if missing:
        raise LayersNotFoundError(repository.name, repository.registry_id, missing)
    held = {each.get_image_digest() for each in images_of(repository)}
    if not held.issuperset(image.children):
        raise ReferencedImagesNotFoundError


def _is_immutable(repository: Repository, tag: str) -> bool:
    filters = repository.image_tag_mutability_exclusion_filters or []
    is_excluded = any(fnmatchcase(tag, each["filter"]) for each in filters)
    return repository.is_tag_immutable() != is_excluded


def _failure(asked: dict[str, str], code: str, reason: str) -> dict[str, Any]:
    return {"imageId": asked, "failureCode": code, "failureReason": reason}
