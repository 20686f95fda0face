"""ECR's errors that moto does not know.

Source: ECR's API reference, the errors of each call. Where no public source quotes one, the words are ours.
"""

from __future__ import annotations

from moto.core.exceptions import ServiceException


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
