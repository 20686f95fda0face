"""Finds and removes unused objects in an environment's artifact bucket, and images in its repository."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.errors import MAX_SKEW, answered_at, different_clocks
from triton_fleet.builds.engines.artifacts import PLANS
from triton_fleet.builds.images.artifacts import BUILDS, CONTEXTS
from triton_fleet.endpoint.bucket_keys import ARCHIVES, ENDPOINTS, OWNERS, RELEASES
from triton_fleet.findings import CannotRunError
from triton_fleet.spec.deployment import Deployment
from triton_fleet.store.content_store import ObjectListing, list_objects
from triton_fleet.store.prune.plan import Plan, Upload, is_marker, record_prefix, units_of
from triton_fleet.store.prune.references import (
    ImagePrune,
    needed_by_locks,
    needed_by_models,
    needed_by_releases,
)
from triton_fleet.store.releases import KEY

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_s3.type_defs import ErrorTypeDef, ObjectIdentifierTypeDef
    from mypy_boto3_sagemaker.client import SageMakerClient

GRACE = timedelta(hours=24)
"""Nothing younger is removed: another branch, whose lock is not here, may be publishing."""
BATCH = 1000
"""The most keys that S3 takes in one request."""
MAX_NAMES = 5
"""How many refusals are named."""


class Prune:
    """One prune of a place; it keeps what live Models, the locks below `root` or the last releases use.

    One race remains: a publish elsewhere finds an old archive and does not upload it, while it is removed
    here. Then its copy fails, or its deploy is refused; another run repairs it.
    """

    def __init__(
        self,
        s3: S3Client,
        sagemaker: SageMakerClient,
        ecr: Any,
        root: Path,
        deployment: Deployment,
        keep: int,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._s3, self._sagemaker, self._keep, self._clock = s3, sagemaker, keep, clock
        self._bucket, self._locks = deployment.bucket, root / "locks" / deployment.environment
        self._images = ImagePrune(ecr, deployment.image_repository)

    def plan(self) -> Plan:
        """Find unused objects and images, by S3's clock; nothing is changed.

        Raises:
            FindingsError: a lock or a release cannot be read, so that it is unknown what it needs.
            CannotRunError: S3's clock and this machine's differ by more than a few minutes.
            ClientError: access is denied.
        """
        young = self._server_time() - GRACE
        recent_releases, old = self._releases()
        needs = (
            needed_by_models(self._sagemaker, self._bucket)
            | needed_by_locks(self._locks)
            | needed_by_releases(self._s3, self._bucket, recent_releases)
        )
        images = self._images.stored_images()
        unused_images = [image for image in images if needs.images.isdisjoint((image.digest, *image.tags))]
        records = {record_prefix(tag) for image in images if image not in unused_images for tag in image.tags}
        required_keys = tuple(needs.keys | records)
        objects = {
            key: entry
            for prefix in (ARCHIVES, ENDPOINTS, PLANS, BUILDS, CONTEXTS, OWNERS)
            for key, entry in list_objects(self._s3, self._bucket, prefix).items()
            if not key.startswith(required_keys)
        }
        units = units_of({**objects, **old}, unused_images)
        young_units = [unit for unit in units if unit.mtime >= young]
        return Plan(
            units=tuple(unit for unit in units if unit.mtime < young),
            uploads=tuple(self._uploads(young)),
            too_young=sum(len(unit.objects) for unit in young_units),
            too_young_images=sum(unit.image is not None for unit in young_units),
        )

    def remove(self, plan: Plan) -> Plan:
        """Remove the planned objects and images that are still unused and unchanged; return what was removed.

        Raises:
            FindingsError: a lock or a release can no longer be read; nothing was removed.
            CannotRunError: S3 or ECR refused to remove some of it, or the clocks differ, and nothing was
                removed.
            ClientError: access is denied; nothing was removed, or only images were not.
        """
        latest = self.plan()
        units_by_name = {unit.name: unit for unit in plan.units}
        units = tuple(unit for unit in latest.units if units_by_name.get(unit.name) == unit)
        uploads = tuple(upload for upload in latest.uploads if upload in plan.uploads)
        # Without its marker, the rest of an archive's files, of an engine or of an image is not complete.
        markers = {key: entry for unit in units for key, entry in unit.objects.items() if is_marker(key)}
        refusals = self._delete(markers)
        refused_keys = {error["Key"] for error in refusals}
        removed_units = [unit for unit in units if refused_keys.isdisjoint(unit.objects)]
        refusals += self._delete(
            {
                key: entry
                for unit in removed_units
                for key, entry in unit.objects.items()
                if key not in markers
            }
        )
        for upload in uploads:
            self._s3.abort_multipart_upload(Bucket=self._bucket, Key=upload.key, UploadId=upload.upload_id)
        reasons = [f"{refusal['Key']}: {refusal['Code']} {refusal['Message']}" for refusal in refusals]
        _require_removal(f"objects of {self._bucket}", reasons)
        images = [unit.image for unit in removed_units if unit.image is not None]
        _require_removal(f"images of {self._images.repository}", self._images.remove(images))
        return replace(latest, units=units, uploads=uploads)

    def _server_time(self) -> datetime:
        """The time in S3's answer, by the clock that dates its objects."""
        answer = self._s3.list_objects_v2(Bucket=self._bucket, MaxKeys=1)
        try:
            time = answered_at(answer)
        except ValueError:
            problem = "S3's answer has no date, so the age of objects is unknown"
            raise CannotRunError(problem, "connect to S3 without a proxy that drops the header") from None
        ours = self._clock()
        if abs(ours - time) > MAX_SKEW:
            problem = f"{different_clocks(ours, time)}: nothing is removed"
            raise CannotRunError(problem, "set this machine's clock, then run it again")
        return time

    def _releases(self) -> tuple[list[str], dict[str, ObjectListing]]:
        """The keys of the last releases of each endpoint, and the older ones."""
        releases = {
            key: entry
            for key, entry in list_objects(self._s3, self._bucket, RELEASES).items()
            if KEY.fullmatch(key)
        }
        by_endpoint = defaultdict(list)
        for key in sorted(releases, reverse=True):
            by_endpoint[key.split("/")[1]].append(key)
        recent_keys = [key for keys in by_endpoint.values() for key in keys[: self._keep]]
        return recent_keys, {key: releases[key] for key in sorted(releases.keys() - set(recent_keys))}

    def _uploads(self, young: datetime) -> Iterator[Upload]:
        for prefix in (ARCHIVES, ENDPOINTS, CONTEXTS):
            pages = self._s3.get_paginator("list_multipart_uploads").paginate(
                Bucket=self._bucket, Prefix=prefix
            )
            for page in pages:
                for upload in page.get("Uploads", []):
                    if upload["Initiated"] < young:
                        yield Upload(upload["Key"], upload["UploadId"])

    def _delete(self, objects: dict[str, ObjectListing]) -> list[ErrorTypeDef]:
        """Delete the listed versions of these objects; return the refusals."""
        refusals: list[ErrorTypeDef] = []
        keys: list[ObjectIdentifierTypeDef] = [
            {"Key": key, "ETag": entry.etag} for key, entry in objects.items()
        ]
        for start in range(0, len(keys), BATCH):
            batch = keys[start : start + BATCH]
            answer = self._s3.delete_objects(Bucket=self._bucket, Delete={"Objects": batch, "Quiet": True})
            refusals += answer.get("Errors", [])
        return refusals


def _require_removal(subject: str, refusals: Sequence[str]) -> None:
    if not refusals:
        return
    more = f"; and {len(refusals) - MAX_NAMES} more" if len(refusals) > MAX_NAMES else ""
    reasons = "; ".join(refusals[:MAX_NAMES])
    raise CannotRunError(f"{len(refusals)} {subject} were not removed: {reasons}{more}")
