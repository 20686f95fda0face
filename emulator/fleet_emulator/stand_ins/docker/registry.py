"""Amazon ECR, as docker uses it: images are pushed by the API alone."""

from __future__ import annotations

import re
from functools import partial
from io import BytesIO
from typing import IO

from botocore.exceptions import BotoCoreError, ClientError

from fleet_emulator.stand_ins.docker.image import Image, digest_of
from fleet_emulator.stand_ins.docker.output import DockerError, report
from triton_fleet.spec.image_name import ImageName

_ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")


def push_image(image: Image, name: ImageName) -> str:
    """Upload what a repository of ECR lacks of an image; the digest that it knows the image by.

    Raises:
        DockerError: the name is not one of ECR, or the registry refuses it.
    """
    registry = _ECR.fullmatch(name.registry)
    if registry is None:
        raise DockerError(f"{name}: the stand-in reaches Amazon ECR alone")
    try:
        return _Repository(name, registry["account"], registry["region"]).push(image)
    except ClientError as error:
        code, text = (error.response["Error"].get(key, "") for key in ("Code", "Message"))
        raise DockerError(f"{name.place}: denied: {code}: {text}") from error
    except BotoCoreError as error:
        raise DockerError(f"{name.place}: the registry cannot be reached: {error}") from error


class _Repository:
    def __init__(self, name: ImageName, account: str, region: str) -> None:
        import boto3

        # A session of its own: boto3's default one keeps the keys of its first use.
        self._ecr = boto3.Session().client("ecr", region_name=region)
        self._name, self._place = name, {"registryId": account, "repositoryName": name.repository}

    def push(self, image: Image) -> str:
        with image.packed.open("rb") as layer:
            self._push_blob(image.layer, layer)
        self._push_blob(image.id, BytesIO(image.config))
        put = self._ecr.put_image(
            **self._place,
            imageManifest=image.manifest.decode(),
            imageTag=self._name.tag,
            imageDigest=digest_of(image.manifest),
        )
        return str(put["image"]["imageId"]["imageDigest"])

    def _push_blob(self, digest: str, blob: IO[bytes]) -> None:
        asked = self._ecr.batch_check_layer_availability(**self._place, layerDigests=[digest])
        if any(each["layerAvailability"] == "AVAILABLE" for each in asked["layers"]):
            report(f"{digest[7:19]}: Layer already exists")
            return
        started = self._ecr.initiate_layer_upload(**self._place)
        upload, first = started["uploadId"], 0
        for part in iter(partial(blob.read, started["partSize"]), b""):
            self._ecr.upload_layer_part(
                **self._place,
                uploadId=upload,
                partFirstByte=first,
                partLastByte=first + len(part) - 1,
                layerPartBlob=part,
            )
            first += len(part)
        self._ecr.complete_layer_upload(**self._place, uploadId=upload, layerDigests=[digest])
        report(f"{digest[7:19]}: Pushed")
