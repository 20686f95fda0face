"""Copies images that were built in one environment to another's repository by digest, with their records."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.awsapi.images.download import open_blob
from triton_fleet.awsapi.images.manifest import Blob
from triton_fleet.awsapi.images.reference import ImageReference
from triton_fleet.awsapi.images.registry import StoredManifest, image_errors_as_findings, stored_manifest
from triton_fleet.awsapi.images.upload import TargetRepository
from triton_fleet.builds.images.artifacts import MANIFEST, built_image_key
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.images.record import BuildRecord, BuiltImage, built_image
from triton_fleet.store.progress import PublishProgress

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MAX_PARALLEL_LAYERS = 3
"""A part of each is in memory, and once more in the text of its request."""
MISSING_IMAGE, NO_RECORD = "FL628", "FL337"


@dataclass(frozen=True, kw_only=True)
class Store:
    """Where an environment has its contents, its images, and the records of their builds."""

    s3: S3Client
    ecr: Any
    deployment: Deployment

    @property
    def bucket(self) -> str:
        """The artifact bucket."""
        return self.deployment.bucket

    @property
    def repository(self) -> ImageReference:
        """The repository, without a tag or a digest."""
        deployment = self.deployment
        return ImageReference(
            registry=deployment.image_registry,
            account=deployment.account,
            region=deployment.region,
            repository=deployment.image_repository,
        )

    def record(self, key: str) -> BuiltImage | None:
        """The record of a build; None where there is none.

        Raises:
            FindingsError: it cannot be read.
            CannotRunError: AWS refuses or does not answer, or there is no bucket.
        """
        with aws_errors_as_findings(self.deployment):
            return built_image(self.s3, self.deployment, key)


@dataclass(frozen=True, kw_only=True)
class ImageCopy:
    """One image, and what the target lacks of it.

    Attributes:
        endpoint: The first endpoint that runs it.
        key: Follows from what it was built from.
        manifest: As the source has it.
        exists: Whether the target has the image.
        layers: Those of its layers that the target lacks, its configuration included.
        record: The record to write; None where the target has it.
    """

    endpoint: str
    key: str
    manifest: StoredManifest
    exists: bool
    layers: tuple[Blob, ...]
    record: BuildRecord | None


class ImageCopies:
    """Copies the images of tested locks that were built, each once."""

    def __init__(self, source: Store, target: Store) -> None:
        self._source, self._target = source, target
        self._repository = TargetRepository(
            ecr=target.ecr,
            image=target.repository,
            remedy=f"run `fleet deploy --env {target.deployment.environment} --foundation` to create it",
        )
        self._stop_event = threading.Event()

    def plan(self, locks: Sequence[Lock]) -> list[ImageCopy]:
        """Compare both repositories; nothing is changed.

        An image of which no lock has the digest is left out: its deploy builds it.

        Raises:
            FindingsError: the source has lost an image or its record, or the target has another image under
                a key.
            CannotRunError: there is no repository, or AWS refuses or does not answer.
        """
        endpoints: dict[tuple[str, str], str] = {}
        for lock in locks:
            if lock.image is not None and lock.image.key is not None and lock.image.digest is not None:
                endpoints.setdefault((lock.image.key, lock.image.digest), lock.endpoint)
        return all_of(list(endpoints.items()), lambda request: self._plan_copy(*request[0], request[1]))

    def copy(self, copies: Sequence[ImageCopy], progress: PublishProgress) -> int:
        """Copy layers, then images, then records; return the bytes of the layers.

        Raises:
            FindingsError: a layer is damaged, or the target has another image under a key by now.
            CannotRunError: a download breaks off, or AWS refuses or does not answer.
        """
        layers = {layer.digest: (copy, layer) for copy in copies for layer in copy.layers}
        size = sum(layer.size for _, layer in layers.values())
        if layers:
            with progress.uploads(len(layers), size, "layer"):
                all_in_parallel(
                    layers.values(),
                    lambda layer_and_copy: self._copy_layer(*layer_and_copy, progress),
                    MAX_PARALLEL_LAYERS,
                    self._stop_event.set,
                )
        for image in copies:
            if not image.exists:
                self._repository.put(image.manifest, hexadecimal(image.key))
            if image.record is not None:
                self._write(image.record)
        return size

    def _plan_copy(self, key: str, digest: str, endpoint: str) -> ImageCopy:
        manifest = self._manifest(digest, endpoint)
        record = self._record(key, digest, endpoint)
        tag_digest = self._repository.tagged_digest(hexadecimal(key))
        if tag_digest not in (None, digest):
            raise FindingsError([self._repository.conflict(hexadecimal(key), digest)])
        blobs = (manifest.manifest.config, *manifest.manifest.layers)
        target_record = self._target.record(key)
        return ImageCopy(
            endpoint=endpoint,
            key=key,
            manifest=manifest,
            exists=tag_digest is not None,
            layers=() if tag_digest else tuple(self._repository.missing_blobs(blobs)),
            record=None if target_record is not None and target_record.record.digest == digest else record,
        )

    def _manifest(self, digest: str, endpoint: str) -> StoredManifest:
        try:
            return stored_manifest(self._source.ecr, self._source.repository.at(digest))
        except FindingsError as error:
            environment = self._source.deployment.environment
            hint = (
                f"build it again: `fleet images build --env {environment} {endpoint}`, then"
                f" `fleet lock --env {environment} {endpoint}` and"
                f" `fleet deploy --env {environment} {endpoint}`; test it, and promote again"
            )
            raise FindingsError(
                [
                    replace(finding, hint=hint) if finding.code == MISSING_IMAGE else finding
                    for finding in error.findings
                ]
            ) from error

    def _record(self, key: str, digest: str, endpoint: str) -> BuildRecord:
        source, record = self._source, self._source.record(key)
        if record is not None and record.record.digest == digest:
            return record.record
        actual = "is not in the store" if record is None else f"is of {record.record.digest}, not of {digest}"
        url = f"s3://{source.deployment.bucket}/{built_image_key(key, MANIFEST)}"
        message = f"the record of the image of {endpoint}, {url}, {actual}"
        hint = (
            "restore its previous version; or check out the commit of the lock, and run"
            f" `fleet images build --env {source.deployment.environment} {endpoint}`, which records the image"
        )
        raise FindingsError([Finding(code=NO_RECORD, message=message, hint=hint)])

    def _copy_layer(self, copy: ImageCopy, layer: Blob, progress: PublishProgress) -> None:
        image = self._source.repository.at(copy.manifest.manifest.digest)
        name = f"{copy.endpoint}, layer {hexadecimal(layer.digest)[:12]}"
        with (
            progress.archive(name, layer.size) as advance,
            image_errors_as_findings(image),
            open_blob(self._source.ecr, image, layer) as content,
        ):
            self._repository.upload(layer, content, self._stoppable(advance))

    def _stoppable(self, advance: Callable[[int], None]) -> Callable[[int], None]:
        """Ends a layer of gigabytes after its part, once another one has failed."""

        def count_bytes(count: int) -> None:
            if self._stop_event.is_set():
                raise CancelledError
            advance(count)

        return count_bytes

    def _write(self, record: BuildRecord) -> None:
        target = self._target.deployment
        target_record = record.model_copy(update={"repository": target.image_repository})
        with aws_errors_as_findings(target):
            self._target.s3.put_object(
                Bucket=target.bucket,
                Key=built_image_key(record.key, MANIFEST),
                Body=target_record.model_dump_json(indent=2).encode(),
            )
