"""An endpoint with an image of its own in a fleet that is promoted."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from botocore.exceptions import ClientError

from tests.support.container_images import FILES, TRITON, ContainerRepository, layer
from tests.support.fleet_folder import SPEC
from tests.support.promotion import ENDPOINT, PLACES, Promotion
from triton_fleet.builds.images.artifacts import MANIFEST, built_image_key
from triton_fleet.project.project import open_project
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.images.source import image_source

DOCKERFILE = "ARG TRITON_IMAGE\nFROM ${TRITON_IMAGE}\nRUN pip install --no-cache-dir einops==0.8.0\n"
BUILD = "image: {build: ../images/detector}\n"
LAYERS = (layer(["opt/a"]), layer(["opt/b"]))
BASE = f"sha256:{'1' * 64}"
END_TIME = "2026-07-06T08:00:00+00:00"


class PromotedImages:
    """The repositories of a promotion's environments, which are empty, and an image of `staging`."""

    def __init__(self, promotion: Promotion) -> None:
        self.promotion = promotion
        self.repositories = {name: self._repository(name) for name in PLACES}
        promotion.folder.write("images/detector/Dockerfile", DOCKERFILE)
        promotion.folder.spec(BUILD, base=SPEC)
        self.key = self._key()

    def build(self, layers: Sequence[bytes] = LAYERS, environment: str = "staging") -> str:
        """Push an image and record it, as its build does; its digest."""
        digest = self.repositories[environment].push(layers, tag=hexadecimal(self.key))
        self.record(digest, environment)
        return digest

    def record(self, digest: str, environment: str = "staging") -> None:
        """Record the build of an image."""
        document = {
            "key": self.key,
            "repository": f"triton-fleet-{environment}",
            "digest": digest,
            "base": f"sagemaker-tritonserver:25.04-py3@{BASE}",
            "config": TRITON,
            "paths": list(FILES),
            "by": "a test",
            "ended": END_TIME,
        }
        self.promotion.s3(environment).put_object(
            Bucket=self.promotion.bucket(environment), Key=self.record_key, Body=json.dumps(document).encode()
        )

    @property
    def record_key(self) -> str:
        return built_image_key(self.key, MANIFEST)

    def recorded_image(self, environment: str = "prod") -> Any:
        """The record of the image in an environment."""
        s3, bucket = self.promotion.s3(environment), self.promotion.bucket(environment)
        return json.loads(s3.get_object(Bucket=bucket, Key=self.record_key)["Body"].read())

    def tags(self, environment: str = "prod") -> dict[str, list[str]]:
        """The images of an environment's repository: their tags by their digests."""
        images = self.promotion.ecr(environment).describe_images(repositoryName=f"triton-fleet-{environment}")
        return {
            image_detail["imageDigest"]: image_detail.get("imageTags", [])
            for image_detail in images["imageDetails"]
        }

    def _repository(self, environment: str) -> ContainerRepository:
        ecr, name = self.promotion.ecr(environment), f"triton-fleet-{environment}"
        with suppress(ClientError):
            ecr.delete_repository(repositoryName=name, force=True)
        return ContainerRepository(ecr, name, imageTagMutability="IMMUTABLE")

    def _key(self) -> str:
        project = open_project(self.promotion.folder.root, "staging")
        source = image_source(project.load(ENDPOINT), project.environment)
        assert source is not None
        return source.key
