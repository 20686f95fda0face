"""An image as a task for CodeBuild: what starts its build, what comes of it, and why it may fail."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar

from triton_fleet.builds.images.artifacts import (
    DRAFT,
    FAILURE,
    MANIFEST,
    REQUEST,
    built_image_key,
    context_key,
    image_lease_key,
    write_context,
)
from triton_fleet.builds.images.facts import path_patterns
from triton_fleet.builds.images.request import ImageRequest
from triton_fleet.builds.script import buildspec
from triton_fleet.builds.start import BuildStart
from triton_fleet.catalog.engines import build_quota
from triton_fleet.catalog.images import Image
from triton_fleet.findings import Finding
from triton_fleet.spec.deployment import BuildKind, Deployment
from triton_fleet.spec.image import PLATFORM
from triton_fleet.spec.source import finding_at
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.builds.codebuild import Build, BuildClients, RefusalError
from triton_fleet.store.builds.failure import FailureTerms, failure_findings
from triton_fleet.store.builds.script import ScriptUpload
from triton_fleet.store.images.record import BuiltImage, built_image
from triton_fleet.store.images.source import WantedImage
from triton_fleet.store.upload.archives import Uploads
from triton_fleet.store.upload.object import ObjectPlace

REQUEST_VARIABLE, ENDPOINT_VARIABLE = "FLEET_IMAGE_REQUEST", "FLEET_IMAGE_ENDPOINT"
PROJECT: BuildKind = "image"
REFUSAL, UNKNOWN, LATE = "FL962", "FL963", "FL964"
CODES = {13: "FL965", 14: "FL966", 17: LATE, 20: REFUSAL, 21: UNKNOWN, 22: "FL967"}
"""By the exit code of the build script, which engine_build/engine_request/problems.py explains."""
CHUNK = 1 << 20


class ImageTask:
    """One image of one run.

    `base` is the release's image with its digest, `seconds` how long it may take, `lost_digest` the digest of
    an image that has a record and no longer exists.
    """

    kind: ClassVar[str] = "image"

    def __init__(
        self,
        clients: BuildClients,
        deployment: Deployment,
        uploads: Uploads,
        script: ScriptUpload,
        image: WantedImage,
        base: Image,
        seconds: int,
        lost_digest: str | None,
    ) -> None:
        self._clients, self._deployment, self._uploads, self._script = clients, deployment, uploads, script
        self._image, self._base, self._seconds, self._lost_digest = image, base, seconds, lost_digest

    @property
    def name(self) -> str:
        """The first endpoint that runs it."""
        return self._image.first.endpoint

    @property
    def lease(self) -> str:
        """The key of the lease in the bucket."""
        return image_lease_key(self._image.key)

    def prepare(self) -> None:
        """Put the build context there.

        Raises:
            FindingsError: a file changed since it was read.
        """
        if self.find() is None:
            self._context  # noqa: B018 (it is uploaded once)

    def find(self) -> BuiltImage | None:
        """The record of the image, if it was pushed."""
        record = built_image(self._clients.s3, self._deployment, self._image.key)
        return None if record is not None and record.record.digest == self._lost_digest else record

    def start(self) -> BuildStart:
        """Write the request of an attempt; return what it is started with."""
        s3, bucket, key = self._clients.s3, self._deployment.bucket, self._image.key
        # A manifest that exists now is of a former repository or of a lost image; with it nothing is built.
        for former in (FAILURE, MANIFEST):
            s3.delete_object(Bucket=bucket, Key=built_image_key(key, former))
        self._lost_digest = None
        request = built_image_key(key, REQUEST)
        s3.put_object(Bucket=bucket, Key=request, Body=self._request().json().encode())
        return BuildStart(
            project=self._deployment.build_project(PROJECT),
            script=f"{bucket}/{self._script.key}",
            buildspec=buildspec(PROJECT),
            variables={REQUEST_VARIABLE: f"s3://{bucket}/{request}", ENDPOINT_VARIABLE: self.name},
            foundation=f"run `fleet deploy --env {self._deployment.environment} --foundation` to create it",
        )

    def refusal(self, error: RefusalError) -> list[Finding]:
        """Why CodeBuild does not start it."""
        hint = (
            f"request a higher quota {build_quota(PROJECT)!r} of AWS CodeBuild in Service Quotas"
            if error.is_quota
            else ""
        )
        message = f"CodeBuild refuses the build of the image of {self.name}: {error}"
        return [finding_at(self._image.first.mark, REFUSAL, message, hint)]

    def failure(self, build: Build, log: Sequence[str]) -> list[Finding]:
        """Why a build has ended without an image, at each line that needs it."""
        key = self._image.key
        terms = FailureTerms(
            codes=CODES,
            unknown=UNKNOWN,
            late=LATE,
            failure=built_image_key(key, FAILURE),
            manifest=built_image_key(key, MANIFEST),
            subject="the record of an image",
        )
        messages = {use.mark: "the image was not built" for use in self._image.uses}
        return failure_findings(self._clients.s3, self._deployment.bucket, build, log, terms, messages)

    def _request(self) -> ImageRequest:
        image, deployment, key = self._image.first, self._deployment, self._image.key
        context, digest = self._context
        return ImageRequest(
            key=key,
            bucket=deployment.bucket,
            context=context,
            context_digest=digest,
            base=self._base.reference,
            arguments=image.arguments,
            platform=PLATFORM,
            registry=deployment.image_registry,
            repository=deployment.image_repository,
            tag=hexadecimal(key),
            paths=path_patterns(),
            script=self._script.key,
            registries=image.registries,
            draft=built_image_key(key, DRAFT),
            manifest=built_image_key(key, MANIFEST),
            failure=built_image_key(key, FAILURE),
            seconds=self._seconds,
        )

    @cached_property
    def _context(self) -> tuple[str, str]:
        """The key of the build context, which is uploaded, and the digest of its tar file."""
        with tempfile.TemporaryFile(prefix="image-context-") as file:
            write_context(self._image.first.context, file)
            size = file.tell()

            def chunks() -> Iterator[bytes]:
                file.seek(0)
                while chunk := file.read(CHUNK):
                    yield chunk

            hasher = hashlib.sha256()
            for chunk in chunks():
                hasher.update(chunk)
            digest = f"sha256:{hasher.hexdigest()}"
            place = ObjectPlace(self._deployment.bucket, context_key(digest))
            self._uploads.file(place, chunks, digest=digest, size=size)
        return place.key, digest
