"""Promotes what was tested in one environment to another: archives and images by digest, then the lock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.changes.spec_changes import KeyChange
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import all_of
from triton_fleet.project.fleet_files import SYNTHESIS_INPUTS
from triton_fleet.project.membership import promoted_spec
from triton_fleet.project.project import Fleet, Project
from triton_fleet.spec.deployment import Deployment
from triton_fleet.store.archive_requirements import (
    REQUESTS_AT_ONCE,
    ArchiveRequirement,
    contents_of,
    missing_in_store,
)
from triton_fleet.store.lock import lock_text, write_text
from triton_fleet.store.ownership import Owners, contents_to_own
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.promote.copy import Store, StoreCopy, objects_of
from triton_fleet.store.promote.deployment import require_deployment
from triton_fleet.store.promote.images import ImageCopies, ImageStore
from triton_fleet.store.promote.lock import PromotedEndpoint, promoted_endpoint

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient


Templates: TypeAlias = Callable[[Project, Sequence[str]], tuple[str, Mapping[str, str]]]
"""From a project and endpoints to the version of the product, and the digest of each one's template."""


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
    files: tuple[Path, ...]
    differences: Mapping[str, tuple[KeyChange, ...]]


def promote(
    tested: PromotionSource, target: Next, progress: PublishProgress, templates: Templates | None = None
) -> PromotionResult:
    """Copy what the tested locks name and the target's store lacks, then write the target's specs and locks.

    Model repositories are not read. The files are written when every content exists and is recorded as the
    endpoint's, so another run continues after an interruption.

    Args:
        tested: Where the endpoints were tested.
        target: Where they will run.
        progress: Is notified of each copy.
        templates: Makes the digests of the templates, which locks of an environment that is promoted to keep.

    Raises:
        FindingsError: the files are wrong, the specs need different archives or images, or a key would differ
            without an override; an endpoint does not run what its lock records, the store has lost an archive
            or an image, or the target has another image under its key; nothing is copied then.
        CannotRunError: a template cannot be made, before anything is copied; a bucket or a repository does
            not exist, or AWS refuses or does not answer.
    """
    project = tested.project
    fleet = resolve_project(project)
    promoted = all_of(project.endpoints, lambda name: promoted_endpoint(project, target.project, name))
    locks = [each.lock for each in promoted]
    source, deployment = _store(tested.s3, fleet.deployment), target.project.deployment
    there = _store(target.s3, deployment)
    with aws_errors_as_findings(fleet.deployment):
        all_of(fleet.endpoints, lambda each: require_deployment(tested.s3, tested.sagemaker, each))
    images = ImageCopies(
        ImageStore(s3=tested.s3, ecr=tested.ecr, deployment=fleet.deployment),
        ImageStore(s3=target.s3, ecr=target.ecr, deployment=deployment),
    )
    image_copies = images.plan(locks)
    contents = contents_of(
        [
            ArchiveRequirement(endpoint, artifact)
            for endpoint in fleet.endpoints
            for artifact in endpoint.archives
        ]
    )
    with aws_errors_as_findings(deployment):
        missing = missing_in_store(there.s3, there.bucket, contents)
    with aws_errors_as_findings(fleet.deployment):
        objects = all_in_parallel(missing, lambda each: objects_of(each, source), REQUESTS_AT_ONCE)
    texts = _texts(target.project, promoted, templates)
    with aws_errors_as_findings(deployment):
        copy = StoreCopy(source, there, progress)
        streamed = copy.copy([each for *before, _ in objects for each in before])
        # Markers come last, when all their files exist.
        streamed += copy.copy([last for *_, last in objects])
    image_bytes = images.copy(image_copies, progress)
    with aws_errors_as_findings(deployment):
        _record_owners(Owners(there.s3, there.bucket), fleet.endpoints, source.environment)
    files = _write(target.project, texts)
    return PromotionResult(
        copied=len(missing),
        bytes=sum(each.size for content in objects for each in content),
        streamed=streamed,
        there=len(contents) - len(missing),
        images=sum(not image_copy.exists for image_copy in image_copies),
        image_bytes=image_bytes,
        images_there=sum(image_copy.exists for image_copy in image_copies),
        files=files,
        differences={each.lock.endpoint: each.spec.differences for each in promoted if each.spec is not None},
    )


def _record_owners(owners: Owners, tested: Sequence[ResolvedEndpoint], source: str) -> None:
    """Record what each endpoint runs and owns in the source, also what the target had, perhaps of others.

    A lock may name more, which proves nothing.
    """

    def record(endpoint: ResolvedEndpoint) -> None:
        owners.record(endpoint.name, contents_to_own(endpoint), f"promotion from {source}")

    all_in_parallel(tested, record, REQUESTS_AT_ONCE)


def _texts(
    target: Project, promoted: Sequence[PromotedEndpoint], templates: Templates | None
) -> dict[Path, str]:
    """The specs, then the locks with the digests of their templates, which a copy of the files makes."""
    environment = target.environment.environment
    specs = {
        promoted_spec(target.root, environment, each.lock.endpoint): each.spec.text
        for each in promoted
        if each.spec is not None
    }
    locks = {target.lock_file(each.lock.endpoint): each.lock for each in promoted}
    texts = specs | {file: lock_text(lock) for file, lock in locks.items()}
    if not specs or templates is None:
        return texts
    with TemporaryDirectory(prefix="fleet-promote-") as folder:
        copy = _copy(target, Path(os.path.realpath(folder)), texts)
        product, digests = templates(copy, [lock.endpoint for lock in locks.values()])
    for file, lock in locks.items():
        update = {"product": product, "template": digests[lock.endpoint]}
        texts[file] = lock_text(lock.model_copy(update=update))
    return texts


def _copy(target: Project, root: Path, texts: Mapping[Path, str]) -> Project:
    """The environment in a copy of what a synthesis reads, with some files that it does not have yet."""
    for each in (target.root / part for part in SYNTHESIS_INPUTS):
        if each.is_dir():
            shutil.copytree(each, root / each.name, symlinks=True)
        elif each.is_file():
            shutil.copy(each, root)
    for file, text in texts.items():
        write_text(root / file.relative_to(target.root), text, root)
    return Fleet(root).open(target.environment.environment)


def _write(target: Project, texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write the files; return those that changed."""
    changed = [file for file, text in texts.items() if write_text(file, text, target.root)]
    for file in changed:
        target.fleet.lock.forget(file)
    return tuple(changed)


def _store(s3: S3Client, deployment: Deployment) -> Store:
    return Store(
        s3=s3, bucket=deployment.bucket, environment=deployment.environment, account=deployment.account
    )
