"""Packs and uploads what the store lacks, several archives in parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.core.reads import ReadCache
from triton_fleet.findings import Finding, FindingsError, collect_findings
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import Compression
from triton_fleet.spec.source import finding_at
from triton_fleet.store.archive import EntrySource
from triton_fleet.store.archive_requirements import ArchiveRequirement, Content
from triton_fleet.store.content_store import files_prefix
from triton_fleet.store.engines.archives import BuiltArchive
from triton_fleet.store.engines.request import StoredPlan, size_with_plans
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.sources.spec_sources import SpecRepositories, source_of
from triton_fleet.store.upload.archives import Check, Uploads
from triton_fleet.store.upload.object import ContentChangedError, ObjectPlace

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

MAX_PARALLEL_UPLOADS = 8
"""Small archives wait for S3 most of the time; large ones share the memory that `Uploads` grants."""


@dataclass(frozen=True)
class Outcome:
    """The result for one content: uploaded, or another publisher was first, or it failed.

    `source` is the archive whose repository was packed, and thereby digested.
    """

    content: Content
    source: ArchiveRequirement | None = None
    is_upload: bool = False
    findings: tuple[Finding, ...] = ()


class StoreUploads:
    """The uploads of one publish into the content store of one bucket.

    `plans` has all plans for their archives, by key.
    """

    def __init__(
        self,
        s3: S3Client,
        project: Project,
        progress: PublishProgress,
        plans: Mapping[str, StoredPlan],
    ) -> None:
        self._s3, self._project, self._progress = s3, project, progress
        self._bucket = project.deployment.bucket
        self._plans = plans
        self._repositories = ReadCache[str, SpecRepositories](
            lambda name: SpecRepositories(project.load(name))
        )

    def upload(self, contents: Sequence[Content]) -> list[Outcome]:
        """Upload them all; a failure does not stop the others."""
        if not contents:
            return []
        size = sum(size_with_plans(content, self._plans) for content in contents)
        with Uploads(self._s3) as uploads, self._progress.uploads(len(contents), size):
            return all_in_parallel(
                contents,
                lambda content: self._content(uploads, content),
                MAX_PARALLEL_UPLOADS,
                uploads.cancel,
            )

    def _content(self, uploads: Uploads, content: Content) -> Outcome:
        """Upload from the first repository that has this content."""
        findings: list[Finding] = []
        for requirement in content.requirements:
            with collect_findings(findings):
                return Outcome(content, requirement, self._archive(uploads, content, requirement))
        return Outcome(content, findings=tuple(findings))

    def _archive(self, uploads: Uploads, content: Content, requirement: ArchiveRequirement) -> bool:
        repository, repositories = (
            requirement.artifact.repository,
            self._repositories(requirement.endpoint.name),
        )
        try:
            if repository is None:
                source = source_of(repositories, requirement.artifact.source, lambda: self._s3)
                return self._upload_source(uploads, content, requirement, source, content.size, None)
            built_archive = BuiltArchive(self._s3, repositories, requirement, self._plans, repository)
            is_upload = self._upload_source(
                uploads, content, requirement, built_archive.source, built_archive.size, built_archive.check
            )
            if is_upload:
                built_archive.write_contents()
            return is_upload
        except ContentChangedError as error:
            raise FindingsError([self._change_finding(requirement, repositories.loaded_spec)]) from error

    def _upload_source(
        self,
        uploads: Uploads,
        content: Content,
        requirement: ArchiveRequirement,
        source: EntrySource,
        size: int,
        check: Check | None,
    ) -> bool:
        with self._progress.archive(requirement.name, size_with_plans(content, self._plans)) as progress:
            if content.compression is Compression.GZIP:
                place = ObjectPlace(self._bucket, content.key)
                return uploads.archive(
                    place, source.write, digest=content.digest, size=size, progress=progress, check=check
                )
            return uploads.files(
                self._bucket,
                files_prefix(content.digest),
                content.key,
                source,
                digest=content.digest,
                size=size,
                progress=progress,
                check=check,
            )

    def _change_finding(self, requirement: ArchiveRequirement, loaded_spec: LoadedSpec) -> Finding:
        name, environment = requirement.endpoint.name, requirement.endpoint.deployment.environment
        archive = requirement.artifact
        mark = loaded_spec.source.mark(("models", archive.source.index, "repository"))
        promoted_from = self._project.lock(name).promoted_from
        if promoted_from is None:
            message = (
                f"the repository of archive {archive.archive!r} changed since the lock of {name!r}"
                " was written"
            )
            hint = f"run `fleet lock --env {environment} {name}` and have the change reviewed"
        else:
            message = (
                f"the bucket lacks archive {archive.archive!r}, which was promoted from {promoted_from!r},"
                " and the repository here has other content"
            )
            hint = f"run `fleet promote --from {promoted_from} --to {environment} {name}` again"
        return finding_at(mark, "FL303", message, hint)
