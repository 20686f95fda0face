"""Promotes what was tested in one environment to another: archives and images by digest, then the lock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

from triton_fleet.awsapi.describe import described_endpoint
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.changes.spec_changes import KeyChange
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import Artifact, ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError, all_of
from triton_fleet.project.fleet_files import SYNTHESIS_INPUTS
from triton_fleet.project.membership import promoted_spec
from triton_fleet.project.project import Fleet, Project
from triton_fleet.store.archive_requirements import (
    MAX_PARALLEL_REQUESTS,
    ArchiveRequirement,
    contents_of,
    missing_in_store,
)
from triton_fleet.store.content_store import digest_of
from triton_fleet.store.lock import lock_text, write_text
from triton_fleet.store.ownership import Owners, contents_to_own
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.promote.copy import StoreCopy, objects_of
from triton_fleet.store.promote.images import ImageCopies, Store
from triton_fleet.store.promote.lock import PromotedEndpoint, promoted_endpoint

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import (
        ContainerDefinitionOutputTypeDef,
        ProductionVariantOutputTypeDef,
    )

Templates: TypeAlias = Callable[[Project, Sequence[str]], tuple[str, Mapping[str, str]]]
"""From a project and endpoints to the version of the product, and the digest of each one's template."""


@dataclass(frozen=True, kw_only=True)
class PromotionSide:
    """The environment that is promoted from, or to: its files, and clients of its account."""

    project: Project
    s3: S3Client
    ecr: Any
    sagemaker: SageMakerClient

    @property
    def store(self) -> Store:
        """Its contents and images."""
        return Store(s3=self.s3, ecr=self.ecr, deployment=self.project.deployment)


@dataclass(frozen=True, kw_only=True)
class PromotionResult:
    """The result of a promotion: contents and bytes copied, contents that existed, locks that changed.

    `streams` is how many of the objects went through this process. `images` is how many were copied, and
    `image_bytes` what their layers have that the target lacked.
    """

    copies: int
    bytes: int
    streams: int
    present: int
    images: int
    image_bytes: int
    images_present: int
    files: tuple[Path, ...]
    differences: Mapping[str, tuple[KeyChange, ...]]


def promote(
    origin: PromotionSide,
    target: PromotionSide,
    progress: PublishProgress,
    templates: Templates | None = None,
) -> PromotionResult:
    """Copy what the tested locks name and the target's store lacks, then write the target's specs and locks.

    Model repositories are not read. The files are written when every content exists and is recorded as the
    endpoint's, so another run continues after an interruption.

    Args:
        origin: Where the endpoints were tested.
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
    project = origin.project
    fleet = resolve_project(project)
    endpoints = all_of(project.endpoints, lambda name: promoted_endpoint(project, target.project, name))
    locks = [item.lock for item in endpoints]
    source, target_store, deployment = origin.store, target.store, target.project.deployment
    with aws_errors_as_findings(fleet.deployment):
        all_of(fleet.endpoints, lambda item: require_deployment(origin.s3, origin.sagemaker, item))
    images = ImageCopies(source, target_store)
    image_copies = images.plan(locks)
    contents = contents_of(
        [
            ArchiveRequirement(endpoint, artifact)
            for endpoint in fleet.endpoints
            for artifact in endpoint.archives
        ]
    )
    with aws_errors_as_findings(deployment):
        absent = missing_in_store(target_store.s3, target_store.bucket, contents)
    with aws_errors_as_findings(fleet.deployment):
        objects = all_in_parallel(absent, lambda item: objects_of(item, source), MAX_PARALLEL_REQUESTS)
    texts = _texts(target.project, endpoints, templates)
    with aws_errors_as_findings(deployment):
        copy = StoreCopy(source, target_store, progress)
        stream_count = copy.copy([item for *before, _ in objects for item in before])
        # Markers come last, when all their files exist.
        stream_count += copy.copy([last for *_, last in objects])
    image_bytes = images.copy(image_copies, progress)
    with aws_errors_as_findings(deployment):
        _record_owners(
            Owners(target_store.s3, target_store.bucket), fleet.endpoints, fleet.deployment.environment
        )
    files = _write(target.project, texts)
    return PromotionResult(
        copies=len(absent),
        bytes=sum(item.size for content in objects for item in content),
        streams=stream_count,
        present=len(contents) - len(absent),
        images=sum(not image_copy.exists for image_copy in image_copies),
        image_bytes=image_bytes,
        images_present=sum(image_copy.exists for image_copy in image_copies),
        files=files,
        differences={
            item.lock.endpoint: item.spec.differences for item in endpoints if item.spec is not None
        },
    )


def _record_owners(owners: Owners, endpoints: Sequence[ResolvedEndpoint], source: str) -> None:
    """Record what each endpoint runs and owns in the source, also what the target had, perhaps of others.

    A lock may name more, which proves nothing.
    """

    def record(endpoint: ResolvedEndpoint) -> None:
        owners.record(endpoint.name, contents_to_own(endpoint), f"promotion from {source}")

    all_in_parallel(endpoints, record, MAX_PARALLEL_REQUESTS)


def _texts(
    target: Project, endpoints: Sequence[PromotedEndpoint], templates: Templates | None
) -> dict[Path, str]:
    """The specs, then the locks with the digests of their templates, which a copy of the files makes."""
    environment = target.environment.environment
    specs = {
        promoted_spec(target.root, environment, endpoint.lock.endpoint): endpoint.spec.text
        for endpoint in endpoints
        if endpoint.spec is not None
    }
    locks = {target.lock_file(endpoint.lock.endpoint): endpoint.lock for endpoint in endpoints}
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
    for path in (target.root / part for part in SYNTHESIS_INPUTS):
        if path.is_dir():
            shutil.copytree(path, root / path.name, symlinks=True)
        elif path.is_file():
            shutil.copy(path, root)
    for file, text in texts.items():
        write_text(root / file.relative_to(target.root), text, root)
    return Fleet(root).open(target.environment.environment)


def _write(target: Project, texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Write the files; return those that changed."""
    changes = [file for file, text in texts.items() if write_text(file, text, target.root)]
    for file in changes:
        target.fleet.lock.forget(file)
    return tuple(changes)


CODE = "FL332"
HEADS = 16
"""Parallel requests for objects."""
IN_SERVICE = "InService"


def require_deployment(s3: S3Client, sagemaker: SageMakerClient, endpoint: ResolvedEndpoint) -> None:
    """Check that the endpoint is in service with data, image and instance type of its files, and owns them.

    The URL of that data contains environment, account, region and the digests of all archives; a live set's
    does not, so its archives are checked one by one. What CloudFormation alone has deployed may be another
    endpoint's: only a publish proves whose it is.

    Raises:
        FindingsError: it is not deployed, not in service, runs something else, or something of another one.
    """
    variant = _variant(sagemaker, endpoint)
    container = sagemaker.describe_model(ModelName=variant["ModelName"])["PrimaryContainer"]
    comparisons = [(_model_data(container), endpoint.model_data_url, "a model without data")]
    if not endpoint.is_pooled:
        comparisons.append((variant.get("InstanceType", ""), endpoint.instance.type, "no instance type"))
    if endpoint.image.is_own:
        comparisons.append((container.get("Image", ""), endpoint.image.uri, "a model without an image"))
    for actual, target, absence in comparisons:
        if actual != target:
            message = f"it runs {actual or absence}, but its files require {target}"
            raise FindingsError([_test_finding(endpoint, message)])
    mutable_archives = [archive for archive in endpoint.archives if not archive.named_by_content]
    wrong = [
        finding
        for finding in all_in_parallel(
            mutable_archives, lambda item: _absence_finding(s3, endpoint, item), HEADS
        )
        if finding
    ]
    if wrong:
        raise FindingsError(wrong)
    contents = contents_to_own(endpoint)
    unproved_digests = sorted(
        set(contents) - Owners(s3, endpoint.deployment.bucket).known_digests(endpoint.name, contents)
    )
    if unproved_digests:
        environment = endpoint.deployment.environment
        message = f"no publish in {environment} has proved that {', '.join(unproved_digests)} is its own"
        raise FindingsError([_test_finding(endpoint, message)])


def _variant(sagemaker: SageMakerClient, endpoint: ResolvedEndpoint) -> ProductionVariantOutputTypeDef:
    description = described_endpoint(sagemaker, endpoint.name)
    if description is None:
        raise FindingsError([_test_finding(endpoint, "it is not deployed there")])
    if description["EndpointStatus"] != IN_SERVICE:
        message = f"it is {description['EndpointStatus']}, not {IN_SERVICE}"
        raise FindingsError([_test_finding(endpoint, message)])
    config = sagemaker.describe_endpoint_config(EndpointConfigName=description["EndpointConfigName"])
    return config["ProductionVariants"][0]


def _model_data(container: ContainerDefinitionOutputTypeDef) -> str:
    source = container.get("ModelDataSource", {}).get("S3DataSource", {})
    return container.get("ModelDataUrl") or source.get("S3Uri", "")


def _absence_finding(s3: S3Client, endpoint: ResolvedEndpoint, archive: Artifact) -> Finding | None:
    digest = digest_of(s3, endpoint.deployment.bucket, archive.key)
    if digest == archive.digest:
        return None
    target = archive.key.rpartition("/")[2]
    actual = "does not exist" if digest is None else f"has {digest or 'no digest'}"
    return _test_finding(endpoint, f"{target} {actual}, but the lock has {archive.digest}")


def _test_finding(endpoint: ResolvedEndpoint, message: str) -> Finding:
    environment = endpoint.deployment.environment
    return Finding(
        code=CODE,
        message=f"{endpoint.name} was not tested in {environment} with its files: {message}",
        hint=f"run `fleet deploy --env {environment} {endpoint.name}`, test it, then promote",
    )
