"""The objects and images that live Models, locks and the last releases need."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from triton_fleet.awsapi.describe import is_missing
from triton_fleet.awsapi.errors import SuppressErrors
from triton_fleet.builds.engines.artifacts import built_key
from triton_fleet.builds.images.artifacts import built_image_key
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.archives import set_digest
from triton_fleet.endpoint.bucket_keys import ARCHIVES, prefix_of
from triton_fleet.project.fleet_files import load_locks
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.images.record import NO_REPOSITORY
from triton_fleet.store.ownership import owner_prefix
from triton_fleet.store.prune.plan import StoredImage
from triton_fleet.store.releases import read_releases

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import ContainerDefinitionOutputTypeDef

MAX_PARALLEL_REQUESTS = 8
"""Parallel descriptions; SageMaker throttles more, and botocore retries."""
_MODEL_DATA = re.compile(rf"{prefix_of('([^/]+)')}")


@dataclass(frozen=True, kw_only=True)
class Needs:
    """Needed content: keys and prefixes of the bucket, digests and tags of images."""

    keys: frozenset[str]
    images: frozenset[str]

    def __or__(self, needs: Needs) -> Needs:
        return Needs(keys=self.keys | needs.keys, images=self.images | needs.images)


def needed_by_models(sagemaker: SageMakerClient, bucket: str) -> Needs:
    """The needs of the Models of the account, whether or not an endpoint runs them.

    Raises:
        ClientError: access is denied.
    """
    pages = sagemaker.get_paginator("list_models").paginate()
    names = [model["ModelName"] for page in pages for model in page["Models"]]
    model_containers = all_in_parallel(
        names, lambda name: _containers(sagemaker, name), MAX_PARALLEL_REQUESTS
    )
    containers = [container for containers_of_model in model_containers for container in containers_of_model]
    found_keys = (_key(url, bucket) for container in containers for url in _urls(container))
    keys = frozenset(key for key in found_keys if key is not None)
    return Needs(
        keys=keys | {owner_prefix(match[1]) for match in map(_MODEL_DATA.match, keys) if match},
        images=frozenset(_digest_or_tag(container.get("Image", "")) for container in containers),
    )


def needed_by_locks(folder: Path) -> Needs:
    """The needs of all locks of one environment, also those whose endpoint has no spec.

    A lock does not record whether its archives are one set, nor their names in a live set, so all possible
    keys are kept.

    Raises:
        FindingsError: a lock cannot be read.
    """
    locks = load_locks(folder)
    return Needs(
        keys=frozenset(prefix for lock in locks for prefix in _prefixes_of(lock)),
        images=frozenset(lock.image.reference for lock in locks if lock.image is not None),
    )


def needed_by_releases(s3: S3Client, bucket: str, releases: Sequence[str]) -> Needs:
    """The needs of these releases.

    Raises:
        FindingsError: one of the objects is not a release.
    """
    by_releases = read_releases(s3, bucket, list(releases))
    stored_keys = frozenset(
        _common_prefix(archive.digest) for release in by_releases for archive in release.archives
    )
    return Needs(
        keys=stored_keys
        | {
            key
            for other_release in by_releases
            for key in (other_release.model_data, owner_prefix(other_release.endpoint))
        },
        images=frozenset(release.image for release in by_releases if release.image is not None),
    )


def _containers(sagemaker: SageMakerClient, name: str) -> list[ContainerDefinitionOutputTypeDef]:
    try:
        model = sagemaker.describe_model(ModelName=name)
    except ClientError as error:
        if not is_missing(error, "model"):
            raise
        return []  # deleted after it was listed
    containers = [*model.get("Containers", [])]
    if "PrimaryContainer" in model:
        containers.append(model["PrimaryContainer"])
    return containers


def _urls(container: ContainerDefinitionOutputTypeDef) -> Iterator[str]:
    if url := container.get("ModelDataUrl"):
        yield url
    sources = [container.get("ModelDataSource"), *container.get("AdditionalModelDataSources", [])]
    for source in sources:
        if source and (data := source.get("S3DataSource")):
            yield data["S3Uri"]


def _digest_or_tag(uri: str) -> str:
    """The digest or tag of an image's URI; Docker's tag where it names neither."""
    name = uri.rpartition("/")[2]
    return name.partition("@")[2] or name.partition(":")[2] or "latest"


def _key(url: str, bucket: str) -> str | None:
    """The URL's key in the bucket, "" for all of it; SageMaker takes https:// as well."""
    address = urlsplit(url)
    path = address.path.removeprefix("/")
    if address.netloc.partition(".")[0] == bucket:
        return path
    by_path = address.scheme == "https" and path.startswith(f"{bucket}/")
    return path.removeprefix(f"{bucket}/") if by_path else None


def _prefixes_of(lock: Lock) -> Iterator[str]:
    home = prefix_of(lock.endpoint)
    yield owner_prefix(lock.endpoint)
    yield f"{home}live/"
    yield f"{home}{set_digest({name: archive.digest for name, archive in lock.archives.items()})}/"
    for archive in lock.archives.values():
        yield _common_prefix(archive.digest)
        yield f"{home}{hexadecimal(archive.digest)}"
        for engine in archive.engines.values():
            yield built_key(engine.key, "")
    if lock.image is not None and lock.image.key is not None:
        yield built_image_key(lock.image.key, "")


def _common_prefix(digest: str) -> str:
    """The common prefix of the archive, its files and their marker."""
    return f"{ARCHIVES}{hexadecimal(digest)}"


BATCH = 100
"""The most images that BatchDeleteImage takes in one request; source: ECR's API reference."""
NO_IMAGE = "ImageNotFound"


class ImagePrune:
    """One repository, which need not exist."""

    def __init__(self, ecr: Any, repository: str) -> None:
        self._ecr, self.repository = ecr, repository

    def stored_images(self) -> list[StoredImage]:
        """The images that have a tag; the others expire by the repository's own rule.

        Raises:
            ClientError: access is denied.
        """
        pages = self._ecr.get_paginator("describe_images").paginate(repositoryName=self.repository)
        with SuppressErrors(NO_REPOSITORY):
            return [
                StoredImage(
                    repository=self.repository,
                    digest=details["imageDigest"],
                    tags=tuple(sorted(details["imageTags"])),
                    size=details.get("imageSizeInBytes", 0),
                    push_time=details["imagePushedAt"],
                )
                for page in pages
                for details in page["imageDetails"]
                if details.get("imageTags")
            ]
        return []

    def remove(self, images: Sequence[StoredImage]) -> list[str]:
        """Remove images with all of their tags; return the refusals.

        Raises:
            ClientError: access is denied.
        """
        refusals = []
        for start in range(0, len(images), BATCH):
            answer = self._ecr.batch_delete_image(
                repositoryName=self.repository,
                imageIds=[{"imageDigest": image.digest} for image in images[start : start + BATCH]],
            )
            refusals += [
                f"{failure['imageId'].get('imageDigest')}: {failure['failureCode']}"
                f" {failure.get('failureReason', '')}"
                for failure in answer["failures"]
                if failure["failureCode"] != NO_IMAGE
            ]
        return refusals
