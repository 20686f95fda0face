"""SageMaker reads the manifest of a model's image when the model is created, and refuses what it cannot run.

Images of other accounts pass: what they hold is not known here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from moto.ecr.models import ecr_backends
from moto.sagemaker.exceptions import ValidationError

from fleet_emulator.registry.images import EmbeddedImage, images_of
from fleet_emulator.registry.layers import read_layer

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
