"""Amazon ECR, as docker uses it: images are pushed and pulled by the API alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from fleet.aws.images.download import open_blob, read_blob
from fleet.aws.images.manifest import Blob, Index, Manifest, parse_json, parse_manifest
from fleet.aws.images.reference import ImageReference, image_reference
from fleet.aws.images.registry import requested_image
from fleet.findings import CannotRunError, FindingsError
from fleet.repository.reading.stream import UnreadableError
from fleet.spec.image import PLATFORM
from fleet.spec.image_name import ImageName
from fleet_emulator.stand_ins.docker.image import Image
from fleet_emulator.stand_ins.docker.layer import Layer
from fleet_emulator.stand_ins.docker.output import DockerError, answer
from fleet_emulator.stand_ins.docker.reference import ecr_of, with_tag
from fleet_emulator.stand_ins.docker.store import ImageStore

_PRESENT = ("LayerAlreadyExistsException", "ImageAlreadyExistsException")
"""Refusals of what the registry has already."""


class EcrRepository:
    """A repository of Amazon ECR; the variables of AWS name credentials and endpoint."""

    def __init__(self, reference: ImageName, store: ImageStore) -> None:
        registry = ecr_of(reference)
        if registry is None:
            place = reference.registry or "Docker Hub"
            raise DockerError(f"{reference}: the stand-in reaches Amazon ECR alone, not {place}")
        if not store.is_logged_in(reference.registry):
            raise DockerError(f"{reference.place}: no basic auth credentials; run docker login first")
        self._reference, self._store = reference, store
        import boto3

        # A session of its own: boto3's default one keeps the keys of its first use.
        self._ecr = boto3.Session().client("ecr", region_name=registry.region)
        self._place = {"registryId": registry.account, "repositoryName": reference.repository}

    def push(self, image: Image) -> str:
        """Upload what the repository lacks of an image; the digest that it knows the image by.

        Raises:
            DockerError: the registry refuses it.
        """
        config = json.loads(image.manifest)["config"]
        blobs = [layer.digest for layer in image.layers] + [config["digest"]]
        with self._errors():
            for start in range(0, len(blobs), 100):
                self._push_blobs(blobs[start : start + 100])
            try:
                put = self._ecr.put_image(
                    **self._place,
                    imageManifest=image.manifest.decode(),
                    imageManifestMediaType=image.media_type,
                    imageTag=with_tag(self._reference).tag,
                    imageDigest=image.digest,
                )["image"]["imageId"]["imageDigest"]
            except ClientError as error:
                if _code(error) not in _PRESENT:
                    raise
                put = image.digest
        if put != image.digest:
            raise DockerError(f"{self._reference}: the registry has the digest {put}, and not {image.digest}")
        return image.digest

    def pull(self) -> Image:
        """Download an image into the store, which does not get its name yet.

        Raises:
            DockerError: the registry does not have it, or it is not an image for this platform.
        """
        with self._errors():
            place = image_reference(str(self._reference))
            manifest, content = self._manifest(place)
            if isinstance(manifest, Index):
                if manifest.ours is None:
                    raise DockerError(f"{self._reference}: no match for platform {PLATFORM}")
                manifest, content = self._manifest(place.at(manifest.ours))
            if isinstance(manifest, Index):
                raise UnreadableError("its index names another index")
            config = read_blob(self._ecr, place, manifest.config)
            diff_ids = self._diff_ids(config)
            layers = tuple(self._pull_layer(place, blob) for blob in manifest.layers)
        if [layer.diff_id for layer in layers] != diff_ids:
            raise DockerError(f"{self._reference}: a layer is not the one that the configuration names")
        return Image(config=config, manifest=content, layers=layers)

    def _manifest(self, place: ImageReference) -> tuple[Manifest | Index, bytes]:
        found, reason = requested_image(self._ecr, place)
        if found is None:
            raise DockerError(f"{self._reference}: manifest unknown: {reason}")
        digest, text = str(found["imageId"]["imageDigest"]), str(found["imageManifest"])
        if place.digest not in (None, digest):
            raise DockerError(f"{self._reference}: the registry answers with another image, {digest}")
        return parse_manifest(text, digest), text.encode("utf-8", "surrogatepass")

    def _diff_ids(self, config: bytes) -> list[Any]:
        described = parse_json(config, "its configuration")
        platform = f"{described.get('os')}/{described.get('architecture')}"
        if platform != PLATFORM:
            raise DockerError(f"{self._reference}: no match for platform {PLATFORM}: it is {platform}")
        try:
            return list(described["rootfs"]["diff_ids"])
        except (KeyError, TypeError) as error:
            raise UnreadableError("its configuration names no layers") from error

    def _pull_layer(self, place: ImageReference, blob: Blob) -> Layer:
        with self._store.new_file() as file:
            with open_blob(self._ecr, place, blob) as stream, file.open("wb") as target:
                target.writelines(stream.pieces())
                stream.finish()
            return self._store.add_packed_layer(file)

    def _push_blobs(self, digests: list[str]) -> None:
        asked = self._ecr.batch_check_layer_availability(**self._place, layerDigests=digests)
        present = {
            each["layerDigest"] for each in asked["layers"] if each["layerAvailability"] == "AVAILABLE"
        }
        for digest in digests:
            if digest in present:
                answer(f"{digest[7:19]}: Layer already exists")
                continue
            self._upload(digest)
            answer(f"{digest[7:19]}: Pushed")

    def _upload(self, digest: str) -> None:
        started = self._ecr.initiate_layer_upload(**self._place)
        upload, first = started["uploadId"], 0
        with self._store.blob(digest).open("rb") as blob:
            for part in iter(partial(blob.read, started["partSize"]), b""):
                self._ecr.upload_layer_part(
                    **self._place,
                    uploadId=upload,
                    partFirstByte=first,
                    partLastByte=first + len(part) - 1,
                    layerPartBlob=part,
                )
                first += len(part)
        try:
            self._ecr.complete_layer_upload(**self._place, uploadId=upload, layerDigests=[digest])
        except ClientError as error:
            if _code(error) not in _PRESENT:
                raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            text = error.response["Error"].get("Message", "")
            raise DockerError(f"{self._reference.place}: denied: {_code(error)}: {text}") from error
        except (BotoCoreError, CannotRunError) as error:
            raise DockerError(f"{self._reference.place}: the registry cannot be reached: {error}") from error
        except (UnreadableError, FindingsError) as error:
            raise DockerError(f"{self._reference}: it cannot be read as an image: {error}") from error


def _code(error: ClientError) -> str:
    return error.response["Error"].get("Code", "")
