"""Images of the account's own repositories: a manifest by its digest, which tags name.

moto makes up digests, deletes an image whose tag moves to another one, and takes layers that do not exist.
Source: ECR's API reference, PutImage, BatchGetImage and BatchDeleteImage.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, cast

from moto.ecr.exceptions import ImageAlreadyExistsException, InvalidParameterException
from moto.ecr.models import Image, Repository

from fleet_emulator.registry.errors import (
    ImageDigestDoesNotMatchError,
    ImageTagAlreadyExistsError,
    LayersNotFoundError,
    ReferencedImagesNotFoundError,
)

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
