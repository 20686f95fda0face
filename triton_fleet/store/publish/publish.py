"""Publishes locked archives to the artifact bucket: to the content store, and to the endpoints' prefixes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import Project
from triton_fleet.store.archive_requirements import contents_of, missing_in_endpoints, missing_in_store
from triton_fleet.store.builds.clients import Builders, no_builders
from triton_fleet.store.builds.run import PACE
from triton_fleet.store.builds.work import Pace
from triton_fleet.store.engines.ensure import ensure_engines
from triton_fleet.store.engines.request import engines_of, size_with_plans
from triton_fleet.store.images.ensure import RepositoryImages, ensure_images
from triton_fleet.store.images.lock import no_ecr
from triton_fleet.store.images.requirements import require_images
from triton_fleet.store.ownership import Owners
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.publish.copies import copy_to_endpoints
from triton_fleet.store.publish.possession import Possession
from triton_fleet.store.publish.uploads import StoreUploads

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


@dataclass(frozen=True, kw_only=True)
class PublishResult:
    """What a publish did: contents uploaded and their tar streams' bytes, archives copied, and unchanged.

    `engines` is how many were built; `images` has those whose digests no lock has; `warnings` is what could
    not be compared.
    """

    engines: int = 0
    images: RepositoryImages = field(default_factory=RepositoryImages)
    uploaded: int = 0
    bytes: int = 0
    copied: int = 0
    there: int = 0
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
        lacking, findings = missing_in_endpoints(s3, deployment.bucket, endpoints)
        possession = Possession(s3, project, owners)
        # Plans are found and built by the digests of ONNX models in a lock, so that is proved first.
        built = possession.prove([each for each in lacking if each.artifact.repository is not None])
        names = {each.name for each in possession.select_consistent(built)}
        contents = contents_of(
            [each for each in lacking if each.artifact.repository is None or each.name in names]
        )
        to_upload = missing_in_store(s3, deployment.bucket, contents)
        engines = ensure_engines(s3, project, engines_of(to_upload), progress, builders, pace)
        findings += engines.findings
        ready = [content for content in to_upload if engines.has_all_of(content)]
        outcomes = StoreUploads(s3, project, progress, engines.plans).upload(ready)
        refused = {content.key for content in to_upload} - {content.key for content in ready}
        refused |= {outcome.content.key for outcome in outcomes if outcome.findings}
        for outcome in outcomes:
            if outcome.source is not None:
                possession.count_upload(outcome.source)
        stored = [each for content in contents if content.key not in refused for each in content.wanted]
        own = contents_of(possession.prove(stored))
        findings += [finding for outcome in outcomes for finding in outcome.findings]
        findings += possession.findings
        findings += copy_to_endpoints(s3, deployment.bucket, own, progress)
    if findings:
        raise FindingsError(findings)
    uploaded = [outcome.content for outcome in outcomes if outcome.uploaded]
    return PublishResult(
        engines=engines.built,
        images=images,
        uploaded=len(uploaded),
        bytes=sum(size_with_plans(content, engines.plans) for content in uploaded),
        copied=len(lacking),
        there=sum(len(endpoint.archives) for endpoint in endpoints) - len(lacking),
        warnings=tuple(warnings),
    )
