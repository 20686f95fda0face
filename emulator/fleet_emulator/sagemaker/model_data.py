"""The data and the image of a model, which have to exist."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from moto.ecr.models import ecr_backends
from moto.s3.exceptions import MissingBucket
from moto.s3.models import S3Backend
from moto.s3.utils import bucket_and_name_from_url
from moto.sagemaker.exceptions import ValidationError

from fleet_emulator.registry.images import EmbeddedImage, images_of, read_layer

FILES, ARCHIVE, SINGLE_FILE = ("S3Prefix", "None"), ("S3Object", "Gzip"), ("S3Object", "None")
"""What a ModelDataSource may name, as S3DataType and CompressionType."""


def data_url(container: Mapping[str, Any]) -> str:
    """The s3:// URL of a container's data, "" when it has none."""
    return str(container.get("ModelDataUrl") or _source(container).get("S3Uri", ""))


def data_form(container: Mapping[str, Any]) -> tuple[str, str]:
    """What is at the URL: FILES below a prefix, an ARCHIVE, or a SINGLE_FILE."""
    if "ModelDataSource" not in container:
        return ARCHIVE
    source = _source(container)
    return source.get("S3DataType", ""), source.get("CompressionType", "")


def require_model_data(container: Mapping[str, Any], s3: S3Backend) -> None:
    """Refuse a container whose data is not in S3, or is named as SageMaker does not take it.

    In MultiModel mode the URL is a prefix under which models may appear later: SageMaker takes an empty one.

    Raises:
        ValidationError: missing data in SageMaker's words.
    """
    if "ModelDataSource" in container:
        _check_source(container)
    url = data_url(container)
    if not url or container.get("Mode") == "MultiModel":
        return
    bucket, key = bucket_and_name_from_url(url)
    if not _is_there(s3, bucket or "", key or "", is_prefix=data_form(container) == FILES):
        raise ValidationError(f"Could not find model data at {url}.")


def _is_there(s3: S3Backend, bucket: str, key: str, *, is_prefix: bool) -> bool:
    try:
        found = s3.get_bucket(bucket).keys
    except MissingBucket:
        return False
    keys = [name for name in found if name.startswith(key)] if is_prefix else [key]
    # A key whose last version is deleted is known, but has no object.
    return any(s3.get_object(bucket, name) is not None for name in keys)


def _source(container: Mapping[str, Any]) -> Mapping[str, Any]:
    source: Mapping[str, Any] = container.get("ModelDataSource", {}).get("S3DataSource", {})
    return source


def _check_source(container: Mapping[str, Any]) -> None:
    if container.get("ModelDataUrl"):
        raise ValidationError("ModelDataUrl and ModelDataSource cannot both be specified for a container.")
    if container.get("Mode") == "MultiModel":
        raise ValidationError("ModelDataSource cannot be used with multi-model endpoints.")
    url, form = data_url(container), data_form(container)
    if form not in (FILES, ARCHIVE, SINGLE_FILE):
        data_type, compression = form
        raise ValidationError(
            f"ModelDataSource cannot have S3DataType '{data_type}' with CompressionType '{compression}'."
        )
    if form == FILES and not url.endswith("/"):
        raise ValidationError(f"S3Uri '{url}' of S3DataType S3Prefix must end with a forward slash (/).")


DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
MULTI_MODEL = "com.amazonaws.sagemaker.capabilities.multi-models"
_ECR = re.compile(
    r"(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?/([^:@]+)(?::([^@]+))?(?:@(.+))?"
)


def require_model_image(container: Mapping[str, Any], account: str, region: str) -> None:
    """Refuse a container whose image is of the account's own registry and cannot be run.

    Sources: aws-samples/easy-amazon-sagemaker-deployments 4 (missing), aws/amazon-sagemaker-feedback 180
    (manifest), aws/amazon-sagemaker-examples 3925 (label).

    Raises:
        ValidationError: in SageMaker's words.
    """
    name = str(container.get("Image", ""))
    parts = _ECR.fullmatch(name)
    if parts is None or (parts[1], parts[2]) != (account, region):
        return
    repository = ecr_backends[account][region].repositories.get(parts[3])
    image = _image(repository, parts[4] or "latest", parts[5]) if repository is not None else None
    if repository is None or image is None:
        raise ValidationError(f"Requested image {name} not found.")
    if image.image_manifest_media_type != DOCKER_MANIFEST:
        raise ValidationError(
            f"Unsupported manifest media type {image.image_manifest_media_type} for image {name}. Ensure that"
            " valid manifest media type is used for specified image."
        )
    if container.get("Mode") == "MultiModel" and _labels(repository, image).get(MULTI_MODEL) != "true":
        raise ValidationError(
            f"Your Ecr Image {name} does not contain required {MULTI_MODEL}=true Docker label(s)."
        )


def _image(repository: Any, tag: str, digest: str | None) -> EmbeddedImage | None:
    for image in images_of(repository):
        if image.get_image_digest() == digest if digest else tag in image.image_tags:
            return image
    return None


def _labels(repository: Any, image: EmbeddedImage) -> Mapping[str, str]:
    config = json.loads(read_layer(repository, image.content["config"]["digest"]))
    return dict(config.get("config", {}).get("Labels") or {})
