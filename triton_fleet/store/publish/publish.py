"""Copies contents on the server from the store to the prefixes of the endpoints' Models."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError, Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.spec.endpoint import Compression
from triton_fleet.store.archive_requirements import (
    MAX_PARALLEL_REQUESTS,
    ArchiveRequirement,
    Content,
    contents_of,
    is_taken,
    missing_in_endpoints,
    missing_in_store,
)
from triton_fleet.store.builds.codebuild import Builders, no_builders
from triton_fleet.store.builds.run import PACE
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.content_store import copy_object, files_prefix, missing_files, stored_files
from triton_fleet.store.engines.ensure import ensure_engines
from triton_fleet.store.engines.request import engines_in, engines_of, size_with_plans
from triton_fleet.store.images.ensure import RepositoryImages, ensure_images, require_images
from triton_fleet.store.images.lock import no_ecr
from triton_fleet.store.ownership import Owners
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.publish.possession import Possession
from triton_fleet.store.publish.uploads import StoreUploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True)
class Copy:
    """One object to be copied, of at most `size` bytes; None if unknown."""

    source: str
    target: str
    size: int | None
    requirement: ArchiveRequirement


def copy_to_endpoints(
    s3: S3Client, bucket: str, contents: Sequence[Content], progress: PublishProgress
) -> list[Finding]:
    """Copy each content to all archives that need it; return findings for names taken meanwhile."""
    copies = [copy for content in contents for copy in _copies(s3, bucket, content)]
    if not copies:
        return []
    with progress.copies(len(copies)) as advance:

        def is_conflict(copy: Copy) -> bool:
            artifact = copy.requirement.artifact
            is_copy = copy_object(
                s3,
                bucket,
                copy.source,
                bucket,
                copy.target,
                artifact.digest,
                overwrite=artifact.named_by_content,
                size=copy.size,
            )
            advance(1)
            return not is_copy and is_taken(s3, bucket, copy.requirement)

        outcomes = all_in_parallel(copies, is_conflict, MAX_PARALLEL_REQUESTS)
    return [
        finding
        for copy, is_conflicting in zip(copies, outcomes, strict=True)
        if is_conflicting
        for finding in copy.requirement.conflict().findings
    ]


def _copies(s3: S3Client, bucket: str, content: Content) -> Iterator[Copy]:
    if content.compression is Compression.GZIP:
        for requirement in content.requirements:
            size = content.size if requirement.artifact.repository is None else None  # plus its plans
            yield Copy(content.key, requirement.artifact.key, size, requirement)
        return
    files, store = stored_files(s3, bucket, content.digest), files_prefix(content.digest)
    if files is None:
        raise CannotRunError(f"s3://{bucket}/{content.key} was removed meanwhile", "publish again")
    for requirement in content.requirements:
        target = requirement.artifact.key
        for path in missing_files(s3, bucket, target, files):
            yield Copy(f"{store}{path}", f"{target}{path}", files[path], requirement)


@dataclass(frozen=True, kw_only=True)
class PublishResult:
    """The result of a publish: contents uploaded, their tar streams' bytes, archives copied, and unchanged.

    `engines` is how many were built; `images` has those whose digests no lock has; `warnings` is what could
    not be compared.
    """

    engines: int = 0
    images: RepositoryImages = field(default_factory=RepositoryImages)
    uploads: int = 0
    bytes: int = 0
    copies: int = 0
    present: int = 0
    warnings: tuple[Finding, ...] = ()


def publish(
    s3: S3Client,
    project: Project,
    endpoints: Sequence[ResolvedEndpoint],
    progress: PublishProgress,
    builders: Builders = no_builders,
    pace: Pace = PACE,
    ecr: Callable[[], Any] = no_ecr,
) -> PublishResult:
    """Build images and engines and upload the archives that are missing, and copy what the endpoints lack.

    Images of a spec's own have to be their endpoint's, and exist if the lock has their digest. Existing
    objects are known from listings. A live set's names do not depend on the content, so each of its objects
    is requested. Only repositories are read that have to be uploaded, or whose content is new to the
    endpoint.

    Raises:
        FindingsError: a registry lacks an image, it is another endpoint's or cannot be built, and nothing is
            published; or
            repositories differ from the locks, archives are another endpoint's, names are taken by other
            contents, or engines cannot be built, and everything else is.
        CannotRunError: the bucket does not exist, or AWS refuses or does not answer; another run continues.
    """
    deployment = project.deployment
    with aws_errors_as_findings(deployment):
        owners = Owners(s3, deployment.bucket)
        warnings = require_images(s3, ecr, project, endpoints, owners)
        images = ensure_images(s3, ecr, project, endpoints, owners, progress, builders, pace)
        absent, findings = missing_in_endpoints(s3, deployment.bucket, endpoints)
        possession = Possession(s3, project, owners)
        # Plans are found and built by the digests of ONNX models in a lock, so that is proved first.
        engine_requirements = possession.prove(
            [requirement for requirement in absent if requirement.artifact.repository is not None]
        )
        names = {requirement.name for requirement in possession.select_consistent(engine_requirements)}
        contents = contents_of(
            [
                requirement
                for requirement in absent
                if requirement.artifact.repository is None or requirement.name in names
            ]
        )
        to_upload = missing_in_store(s3, deployment.bucket, contents)
        engines = ensure_engines(s3, project, engines_of(to_upload), progress, builders, pace)
        findings += engines.findings
        ready = [
            content
            for content in to_upload
            if all(engine.build.key in engines.results for engine in engines_in(content.requirements[0]))
        ]
        outcomes = StoreUploads(s3, project, progress, engines.results).upload(ready)
        refused_keys = {content.key for content in to_upload} - {content.key for content in ready}
        refused_keys |= {outcome.content.key for outcome in outcomes if outcome.findings}
        for outcome in outcomes:
            if outcome.source is not None:
                possession.count_upload(outcome.source)
        available = [
            requirement
            for content in contents
            if content.key not in refused_keys
            for requirement in content.requirements
        ]
        own = contents_of(possession.prove(available))
        findings += [finding for outcome in outcomes for finding in outcome.findings]
        findings += possession.findings
        findings += copy_to_endpoints(s3, deployment.bucket, own, progress)
    if findings:
        raise FindingsError(findings)
    contents_uploads = [outcome.content for outcome in outcomes if outcome.is_upload]
    return PublishResult(
        engines=len(engines.new_keys),
        images=images,
        uploads=len(contents_uploads),
        bytes=sum(size_with_plans(content, engines.results) for content in contents_uploads),
        copies=len(absent),
        present=sum(len(endpoint.archives) for endpoint in endpoints) - len(absent),
        warnings=tuple(warnings),
    )
