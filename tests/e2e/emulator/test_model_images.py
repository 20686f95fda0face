"""CreateModel reads the manifest of an image in the account's own registry."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from tests.support.container_images import HOST, OCI, ContainerRepository, layer
from tests.support.embedded_app.clients import client

NUMBERS = count()
PLAIN: dict[str, Any] = {"architecture": "amd64", "os": "linux", "config": {"Labels": None}}


class Models:
    """Models of one archive and of any image."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self._aws = aws
        self.repository = ContainerRepository(client(aws, "ecr"), f"team/models{next(NUMBERS)}")
        s3 = client(aws, "s3")
        s3.create_bucket(Bucket="archives")
        s3.put_object(Bucket="archives", Key="model.tar.gz", Body=b"x")

    def create(self, reference: str, mode: str = "SingleModel") -> str:
        """Create one; its ARN, or why it was refused."""
        image = f"{HOST}/{self.repository.name}{reference}"
        data = "s3://archives/" if mode == "MultiModel" else "s3://archives/model.tar.gz"
        try:
            answer = client(self._aws, "sagemaker").create_model(
                ModelName=f"model-{next(NUMBERS)}",
                ExecutionRoleArn="arn:aws:iam::123456789012:role/model",
                PrimaryContainer={"Image": image, "Mode": mode, "ModelDataUrl": data},
            )
        except ClientError as error:
            return error.response["Error"]["Message"].replace(image, "IMAGE")
        return str(answer["ModelArn"])


@pytest.fixture
def models(aws: EmbeddedAws) -> Models:
    return Models(aws)


def test_a_model_of_an_image_that_does_not_exist_is_refused(models: Models) -> None:
    digest = models.repository.push([layer(["etc/a"])], tag="one")
    assert models.create(":one").startswith("arn:")
    assert models.create(f"@{digest}").startswith("arn:")
    for reference in (":two", "", f"@sha256:{1:064}"):
        assert models.create(reference) == "Requested image IMAGE not found."


def test_a_model_of_an_image_with_a_manifest_of_the_oci_is_refused(models: Models) -> None:
    models.repository.push([layer(["etc/b"])], tag="one", media_type=OCI)
    assert models.create(":one") == (
        f"Unsupported manifest media type {OCI} for image IMAGE. Ensure that valid manifest media type is used"
        " for specified image."
    )


def test_a_multi_model_container_needs_the_label(models: Models) -> None:
    models.repository.push([layer(["etc/c"])], PLAIN, tag="plain")
    models.repository.push([layer(["etc/d"])], tag="triton")
    assert models.create(":plain").startswith("arn:")
    assert models.create(":triton", "MultiModel").startswith("arn:")
    assert models.create(":plain", "MultiModel") == (
        "Your Ecr Image IMAGE does not contain required com.amazonaws.sagemaker.capabilities.multi-models=true"
        " Docker label(s)."
    )
