"""Promotes what was tested in one environment to another: archives and images by digest, then the lock."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleet.artifacts.lock import write_lock
from fleet.artifacts.progress import PublishProgress
from fleet.artifacts.promote.copy import Store, StoreCopy, objects_of
from fleet.artifacts.promote.deployment import require_deployment
from fleet.artifacts.promote.images import ImageCopies, ImageStore
from fleet.artifacts.promote.lock import promoted_lock
from fleet.artifacts.publish.requirements import (
    REQUESTS_AT_ONCE,
    ArchiveRequirement,
    contents_of,
    missing_in_store,
)
from fleet.aws.api.errors import aws_errors_as_findings
from fleet.core.parallel import all_in_parallel
from fleet.endpoint.resolve import place_of, resolve_project
from fleet.endpoint.resolved_endpoint import Deployment
from fleet.findings import all_of
from fleet.spec.project import Project

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient


@dataclass(frozen=True, kw_only=True)
class PromotionSource:
    """The environment that is promoted from: its files, and its account."""

    project: Project
    s3: S3Client
    sagemaker: SageMakerClient
    ecr: Any


@dataclass(frozen=True, kw_only=True)
class Next:
    """The environment that is promoted to."""

    project: Project
    s3: S3Client
    ecr: Any


@dataclass(frozen=True, kw_only=True)
class PromotionResult:
    """What a promotion did: contents and bytes copied, contents that existed, locks that changed.

    `streamed` is how many of the objects went through this process. `images` is how many were copied, and
    `image_bytes` what their layers have that the target lacked.
    """

    copied: int
    bytes: int
    streamed: int
    there: int
    images: int
    image_bytes: int
    images_there: int
    locks: tuple[Path, ...]


def promote(tested: PromotionSource, target: Next, progress: PublishProgress) -> PromotionResult:
    """Copy what the tested locks name and the target's store lacks, then write the target's locks.

    Model repositories are not read. The locks are written when every content exists, so another run continues
    after an interruption.

    Raises:
        FindingsError: the files are wrong, the specs need different archives or images, an endpoint does not
            run what its lock records, the store has lost an archive or an image, or the target has another
            image under its key; nothing is copied then.
        CannotRunError: a bucket or a repository does not exist, or AWS refuses or does not answer.
    """
    project = tested.project
    fleet = resolve_project(project)
    locks = all_of(project.endpoints, lambda name: promoted_lock(project, target.project, name))
    source, place = _store(tested.s3, fleet.place), place_of(target.project.environment)
    there = _store(target.s3, place)
    with aws_errors_as_findings(fleet.place):
        all_of(fleet.endpoints, lambda each: require_deployment(tested.s3, tested.sagemaker, each))
    images = ImageCopies(
        ImageStore(s3=tested.s3, ecr=tested.ecr, place=fleet.place),
        ImageStore(s3=target.s3, ecr=target.ecr, place=place),
    )
    image_copies = images.plan(locks)
    contents = contents_of(
        [ArchiveRequirement(each, artifact) for each in fleet.endpoints for artifact in each.archives]
    )
    with aws_errors_as_findings(place):
        missing = missing_in_store(there.s3, there.bucket, contents)
    with aws_errors_as_findings(fleet.place):
        objects = all_in_parallel(missing, lambda each: objects_of(each, source), REQUESTS_AT_ONCE)
    with aws_errors_as_findings(place):
        copy = StoreCopy(source, there, progress)
        streamed = copy.copy([each for *before, _ in objects for each in before])
        # Markers come last, when all their files exist.
        streamed += copy.copy([last for *_, last in objects])
    image_bytes = images.copy(image_copies, progress)
    files = [(target.project.lock_file(lock.endpoint), lock) for lock in locks]
    return PromotionResult(
        copied=len(missing),
        bytes=sum(each.size for content in objects for each in content),
        streamed=streamed,
        there=len(contents) - len(missing),
        images=sum(not each.exists for each in image_copies),
        image_bytes=image_bytes,
        images_there=sum(each.exists for each in image_copies),
        locks=tuple(file for file, lock in files if write_lock(file, lock)),
    )


def _store(s3: S3Client, place: Deployment) -> Store:
    return Store(s3=s3, bucket=place.bucket, environment=place.environment, account=place.account)
