"""Amazon ECR, as docker uses it: images are pushed and pulled by the API alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import urllib3
from botocore.exceptions import BotoCoreError, ClientError

from fleet.local.images.image import ARCHITECTURE, MANIFEST, OS, Image, digest_of
from fleet.local.images.layer import sha256_of
from fleet.local.images.output import DockerError, answer
from fleet.local.images.reference import Reference
from fleet.local.images.store import ImageStore

MANIFESTS = (MANIFEST, "application/vnd.docker.distribution.manifest.v2+json")
MAX_CONFIG_BYTES = 8 << 20
MAX_PACKED_BYTES = 4 << 30
"""Of a layer that is pulled."""
_SECONDS = 60.0
_PRESENT = ("LayerAlreadyExistsException", "ImageAlreadyExistsException")
"""Refusals of what the registry has already."""


class EcrRepository:
    """A repository of Amazon ECR; the variables of AWS name credentials and endpoint."""

    def __init__(self, reference: Reference, store: ImageStore) -> None:
        registry = reference.ecr
        if registry is None:
            place = reference.registry or "Docker Hub"
            raise DockerError(f"{reference}: the stand-in reaches Amazon ECR alone, not {place}")
        if not store.is_logged_in(reference.registry):
            raise DockerError(f"{reference.name}: no basic auth credentials; run docker login first")
        self._reference, self._store = reference, store
        self._ecr = boto3.client("ecr", region_name=registry.region)
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
                    imageManifestMediaType=MANIFEST,
                    imageTag=self._reference.with_tag.tag,
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
            manifest = self._manifest()
            read = json.loads(manifest)
            try:
                config = self._small_blob(read["config"]["digest"])
                described = json.loads(config)
                platform = f"{described['os']}/{described['architecture']}"
                wanted = [(each["digest"], each["size"]) for each in read["layers"]]
                diff_ids = described["rootfs"]["diff_ids"]
            except (KeyError, TypeError, ValueError) as error:
                raise DockerError(
                    f"{self._reference}: its manifest or configuration is damaged: {error}"
                ) from error
            if platform != f"{OS}/{ARCHITECTURE}":
                raise DockerError(
                    f"{self._reference}: no match for platform {OS}/{ARCHITECTURE}: it is {platform}"
                )
            layers = tuple(self._pull_layer(digest) for digest, _ in wanted)
        if [layer.diff_id for layer in layers] != diff_ids:
            raise DockerError(f"{self._reference}: a layer is not the one that the configuration names")
        return Image(config=config, manifest=manifest, layers=layers)

    def _manifest(self) -> bytes:
        reference = self._reference
        wanted = (
            {"imageDigest": reference.digest} if reference.digest else {"imageTag": reference.with_tag.tag}
        )
        found = self._ecr.batch_get_image(
            **self._place, imageIds=[wanted], acceptedMediaTypes=list(MANIFESTS)
        )
        if not found["images"]:
            raise DockerError(f"{reference}: manifest unknown: Requested image not found")
        manifest: str = found["images"][0]["imageManifest"]
        content = manifest.encode()
        if reference.digest and digest_of(content) != reference.digest:
            raise DockerError(
                f"{reference}: the registry answers with another manifest, {digest_of(content)}"
            )
        return content

    def _small_blob(self, digest: str) -> bytes:
        with self._store.new_file() as file:
            self._download(digest, file, MAX_CONFIG_BYTES)
            return file.read_bytes()

    def _pull_layer(self, digest: str) -> Any:
        with self._store.new_file() as file:
            self._download(digest, file, MAX_PACKED_BYTES)
            return self._store.add_packed_layer(file)

    def _download(self, digest: str, file: Path, limit: int) -> None:
        url = self._ecr.get_download_url_for_layer(**self._place, layerDigest=digest)["downloadUrl"]
        response = urllib3.request("GET", url, preload_content=False, timeout=_SECONDS, retries=False)
        if response.status != 200:
            raise DockerError(
                f"{self._reference}: the blob {digest} cannot be downloaded: HTTP {response.status}"
            )
        size = 0
        with file.open("wb") as target:
            for chunk in response.stream(1 << 20):
                size += len(chunk)
                if size > limit:
                    raise DockerError(f"{self._reference}: the blob {digest} has more than {limit} bytes")
                target.write(chunk)
        if sha256_of(file) != digest:
            raise DockerError(f"{self._reference}: the blob {digest} is not what its digest is of")

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
            raise DockerError(f"{self._reference.name}: denied: {_code(error)}: {text}") from error
        except (BotoCoreError, urllib3.exceptions.HTTPError) as error:
            raise DockerError(f"{self._reference.name}: the registry cannot be reached: {error}") from error


def _code(error: ClientError) -> str:
    return error.response["Error"].get("Code", "")
