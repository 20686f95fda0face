"""An endpoint that builds its image, the registry of the release's image, and the records of builds."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.image_builds import START
from triton_fleet.builds.images.artifacts import MANIFEST, built_image_key
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.spec.image import LockedImage
from triton_fleet.store.images.builds import BaseImages
from triton_fleet.store.images.source import ImageSource, WantedImage, image_sources, wanted_images
from triton_fleet.store.lock import write_locks

BASE, MOVED_BASE = f"sha256:{'1' * 64}", f"sha256:{'2' * 64}"
"""What the release's tag names, and what it may name later."""
BUILT_DIGEST = f"sha256:{'d' * 64}"
DENIED_ERROR = ClientError({"Error": {"Code": "AccessDeniedException", "Message": "no"}}, "BatchGetImage")


@dataclass
class ReleaseRegistry:
    """ECR with the release's images: what all tags name, and what was asked; None: access is denied."""

    digest: str | None = BASE
    requests: list[str] = field(default_factory=list)

    def batch_get_image(self, **request: Any) -> dict[str, Any]:
        (id,) = request["imageIds"]
        self.requests.append(f"{request['registryId']}/{request['repositoryName']}:{id.get('imageTag')}")
        if self.digest is None:
            raise DENIED_ERROR
        if not self.digest:
            failure = {"imageId": id, "failureCode": "ImageNotFound", "failureReason": "not found"}
            return {"images": [], "failures": [failure]}
        return {"images": [{"imageId": id | {"imageDigest": self.digest}}], "failures": []}


@dataclass
class Records:
    """S3 with the records of builds."""

    objects: dict[str, bytes] = field(default_factory=dict)

    def get_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:
        if Key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey", "Message": Bucket}}, "GetObject")
        return {"Body": io.BytesIO(self.objects[Key])}

    def get_paginator(self, _: str) -> Records:
        return self

    def paginate(self, *, Bucket: str, Prefix: str) -> list[dict[str, Any]]:
        """One page of ListObjectsV2."""
        entries = {"Size": 1, "LastModified": datetime.now(UTC), "ETag": Bucket}
        return [{"Contents": [{"Key": key, **entries} for key in self.objects if key.startswith(Prefix)]}]


@dataclass
class ImageFleet:
    """A fleet whose endpoint builds its image, without an AWS."""

    folder: FleetFolder
    registry: ReleaseRegistry = field(default_factory=ReleaseRegistry)
    records: Records = field(default_factory=Records)

    def __post_init__(self) -> None:
        self.folder.write("images/detector/Dockerfile", START)
        self.folder.write("repository/embed/config.pbtxt", 'backend: "python"\n')
        self.folder.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
        self.spec()

    def spec(self, more: str = "", *, base: str = SPEC) -> None:
        self.folder.spec(f"image: {{build: ../images/detector}}\n{more}", base=base)

    def sources(self) -> list[ImageSource]:
        return image_sources(open_project(self.folder.root, "dev"))

    def wanted_images(self) -> list[WantedImage]:
        """The images of a build, on bases with their digests."""
        bases = BaseImages(lambda: self.registry)
        project = open_project(self.folder.root, "dev")
        return [replace(image, base=bases.of(image)) for image in wanted_images(project, self.sources())]

    def build(self, digest: str = BUILT_DIGEST) -> str:
        """Record what a build makes; its key."""
        (image,) = self.wanted_images()
        record = {
            "key": image.key,
            "repository": "triton-fleet-dev",
            "digest": digest,
            "base": image.base.reference,
            "config": {"os": "linux", "architecture": "amd64", "config": {}},
            "paths": [],
            "ended": "2026-07-06T08:00:00+00:00",
        }
        self.records.objects[built_image_key(image.key, MANIFEST)] = json.dumps(record).encode()
        return image.key

    def write_lock(self) -> LockedImage:
        s3: Any = self.records
        write_locks(open_project(self.folder.root, "dev"), lambda: s3, lambda: self.registry)
        return self.lock()

    def write_lock_offline(self) -> LockedImage:
        write_locks(open_project(self.folder.root, "dev"))
        return self.lock()

    def lock(self) -> LockedImage:
        image = load_lock(self.lock_file).image
        assert image is not None
        return image

    @property
    def lock_file(self) -> Path:
        return self.folder.root / "locks/dev/sentences.lock.yaml"
