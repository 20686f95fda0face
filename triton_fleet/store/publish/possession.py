"""Proofs that endpoints may have the archives that their locks name: owned before, or read in this run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from triton_fleet.builds.engines.artifacts import archive_digest, packed_name
from triton_fleet.builds.engines.endpoint_engines import spec_engine
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.core.reads import ReadCache
from triton_fleet.endpoint.endpoint_parts import ResolvedEngine
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import in_s3
from triton_fleet.spec.source import Mark, finding_at
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.archive_requirements import MAX_PARALLEL_REQUESTS, ArchiveRequirement
from triton_fleet.store.engines.onnx import onnx_of
from triton_fleet.store.engines.request import engines_in
from triton_fleet.store.ownership import OF_REPOSITORY, Owners
from triton_fleet.store.sources.spec_sources import SpecRepositories, built_models, repository_of, source_of

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client

FORGERY, NO_PROMOTION = "FL847", "FL848"
WITHOUT_ENGINES = "its engines in the lock do not lead to that digest"
MAX_PARALLEL_READS = 4
"""Repositories that are digested side by side: more only contend for the processor."""
Place: TypeAlias = "tuple[str, str | None, int | None, frozenset[str]]"
"""Where a tar stream comes from: folder or URL, the digest there, number of the copy, models with engines."""


@dataclass(frozen=True)
class Reading:
    """The digest of what was read in this run, or why it could not be read."""

    digest: str = ""
    problem: str = ""


class Possession:
    """The proofs of one publish; `findings` has what was refused so far.

    A repository is read once, whichever endpoints have it.
    """

    def __init__(self, s3: S3Client, project: Project, owners: Owners) -> None:
        self._s3, self._project, self._owners = s3, project, owners
        self._read: dict[Place | Mark, Reading] = {}
        self._repositories = ReadCache[str, SpecRepositories](
            lambda name: SpecRepositories(project.load(name))
        )
        self._proofs: set[tuple[str, str]] = set()
        self.findings: list[Finding] = []

    def count_upload(self, archive: ArchiveRequirement) -> None:
        """Count an archive as read: its upload has digested its repository and found the lock's digest."""
        self._read[self._place(archive)] = Reading(_repository_digest(archive))
        self._proofs.add(_key(archive))

    def prove(self, requirements: Sequence[ArchiveRequirement]) -> list[ArchiveRequirement]:
        """Those of the archives that their endpoints may have; all of them are recorded as owned.

        What has no record and no release is read: a repository, and the ONNX models of engines.

        Raises:
            CannotRunError: S3 refuses or does not answer.
            ClientError: access to the bucket is denied.
        """
        by_endpoint: dict[str, set[str]] = {}
        for requirement in requirements:
            if _key(requirement) not in self._proofs:
                by_endpoint.setdefault(requirement.endpoint.name, set()).add(requirement.artifact.digest)

        def owned_pairs(name: str) -> list[tuple[str, str]]:
            return [(name, digest) for digest in self._owners.owned_digests(name, by_endpoint[name])]

        for pairs in all_in_parallel(by_endpoint, owned_pairs, MAX_PARALLEL_REQUESTS):
            self._proofs.update(pairs)
        claims = [requirement for requirement in requirements if _key(requirement) not in self._proofs]
        self._read_sources(claims)
        refusals = [(claim, self._refusal(claim)) for claim in claims]
        self._proofs.update(_key(claim) for claim, refusal in refusals if refusal is None)
        self.findings += [
            refusal for claim, refusal in refusals if refusal and _key(claim) not in self._proofs
        ]
        owned_requirements = [
            requirement for requirement in requirements if _key(requirement) in self._proofs
        ]

        def record(name: str) -> None:
            digests = {
                requirement.artifact.digest
                for requirement in owned_requirements
                if requirement.endpoint.name == name
            }
            self._owners.record(name, digests, OF_REPOSITORY)

        all_in_parallel(
            {requirement.endpoint.name for requirement in owned_requirements}, record, MAX_PARALLEL_REQUESTS
        )
        return owned_requirements

    def select_consistent(self, requirements: Iterable[ArchiveRequirement]) -> list[ArchiveRequirement]:
        """The archives whose digests follow from their repositories and engines in the lock; no file is read.

        Plans are found by keys that follow from the lock's digests of ONNX models, which an archive that was
        owned before does not prove.
        """
        consistent = list[ArchiveRequirement]()
        for archive in requirements:
            if _is_consistent(archive):
                consistent.append(archive)
            else:
                self.findings.append(self._finding(archive, WITHOUT_ENGINES))
        return consistent

    def _read_sources(self, claims: Iterable[ArchiveRequirement]) -> None:
        """Read the repositories and ONNX models of the archives that were not read yet."""
        sources: dict[Place | Mark, Callable[[], str]] = {}
        for claim in claims:
            sources[self._place(claim)] = partial(self._repository_digest_of, claim)
            for engine in engines_in(claim):
                sources[engine.mark] = partial(self._onnx_digest, claim, engine)
        unread_sources = [source for source in sources if source not in self._read]

        def read(source: Place | Mark) -> Reading:
            try:
                return Reading(sources[source]())
            except FindingsError as error:
                return Reading(problem=error.findings[0].message)

        self._read.update(
            zip(unread_sources, all_in_parallel(unread_sources, read, MAX_PARALLEL_READS), strict=True)
        )

    def _repository_digest_of(self, claim: ArchiveRequirement) -> str:
        stream, repositories = DigestWriter(), self._repositories(claim.endpoint.name)
        source_of(repositories, claim.artifact.source, lambda: self._s3).write(stream)
        return stream.digest

    def _onnx_digest(self, claim: ArchiveRequirement, engine: ResolvedEngine) -> str:
        loaded_spec = self._project.load(claim.endpoint.name)
        engine_keys = spec_engine(loaded_spec.spec, engine.index, engine.model)
        return onnx_of(loaded_spec, *engine_keys, lambda: self._s3).measure().digest

    def _refusal(self, claim: ArchiveRequirement) -> Finding | None:
        """Why an archive is not what was read; None where it is."""
        if not _is_consistent(claim):
            return self._finding(claim, WITHOUT_ENGINES)
        repository = self._read[self._place(claim)]
        if problem := repository.problem or _difference(repository, _repository_digest(claim), "repository"):
            return self._finding(claim, problem)
        for engine in engines_in(claim):
            onnx = self._read[engine.mark]
            if problem := onnx.problem or _difference(
                onnx, engine.build.onnx, f"ONNX model of {engine.model!r}"
            ):
                return self._finding(claim, problem, engine.mark)
        return None

    def _place(self, archive: ArchiveRequirement) -> Place:
        loaded_spec, source = self._project.load(archive.endpoint.name), archive.artifact.source
        entry = loaded_spec.spec.models[source.index]
        return _address(loaded_spec, source.index), entry.digest, source.copy, built_models(entry)

    def _finding(self, claim: ArchiveRequirement, problem: str, mark: Mark | None = None) -> Finding:
        """The finding against an archive, by default at the line of the spec that names its repository."""
        name, environment, artifact = (
            claim.endpoint.name,
            claim.endpoint.deployment.environment,
            claim.artifact,
        )
        mark = mark or self._project.load(name).source.mark(("models", artifact.source.index, "repository"))
        origin = self._project.lock(name).promoted_from
        lock = self._project.lock_file(name).relative_to(self._project.root).as_posix()
        claim_text = f"{lock} names {artifact.digest} for archive {artifact.archive!r}, which {name!r}"
        if origin is None:
            message = f"{claim_text} has never had in {environment!r}, and {problem}"
            hint = (
                f"run `fleet lock --env {environment} {name}` and have the change reviewed;"
                " if this clone lacks files, publish once from one that has them"
            )
            return finding_at(mark, FORGERY, message, hint)
        message = f"{claim_text} did not get by a promotion from {origin!r} to {environment!r}, and {problem}"
        hint = f"run `fleet promote --from {origin} --to {environment} {name}`"
        return finding_at(mark, NO_PROMOTION, message, hint)


def _address(loaded_spec: LoadedSpec, index: int) -> str:
    """A repository's URL; or its folder, as the spec has it where that cannot be followed."""
    archive = loaded_spec.spec.models[index]
    if in_s3(archive):
        return archive.repository
    try:
        return str(repository_of(loaded_spec, index))
    except FindingsError:
        return f"{loaded_spec.source.file}: {archive.repository}"


def _key(archive: ArchiveRequirement) -> tuple[str, str]:
    return archive.endpoint.name, archive.artifact.digest


def _repository_digest(archive: ArchiveRequirement) -> str:
    """The digest of the tar stream without plans."""
    return archive.artifact.repository or archive.artifact.digest


def _difference(reading: Reading, digest: str, subject: str) -> str:
    return "" if reading.digest == digest else f"the {subject} here has {reading.digest}"


def _is_consistent(archive: ArchiveRequirement) -> bool:
    """Whether an archive's digest follows from its repository and the keys of its engines."""
    artifact = archive.artifact
    if artifact.repository is None:
        return True
    copy = artifact.source.copy
    keys = {packed_name(engine.model, copy): engine.build.key for engine in engines_in(archive)}
    return archive_digest(artifact.repository, keys) == artifact.digest
