"""The source of a live set's new archive: a repository from the command line instead of a spec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from triton_fleet.endpoint.fleet_buckets import source_findings
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.endpoint import HINT, Archive, in_s3, name_problem
from triton_fleet.spec.source import Source
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.source import ArchiveSource
from triton_fleet.store.sources.spec_sources import Connect, SpecRepositories, serving_container, source_of

OF_A_SPEC = re.compile(r"write `digest: (?P<digest>\S+)`")


def repository_source(
    project: Project, loaded: LoadedSpec, archive: str, repository: str, digest: str | None, s3: Connect
) -> ArchiveSource:
    """A repository, read like an entry of the spec; paths are relative to the working directory.

    Raises:
        FindingsError: it does not exist, its name is not valid, or it is another endpoint's.
    """
    entry = Archive(archive=archive, repository=repository)
    if in_s3(entry):
        if message := name_problem(entry):
            raise FindingsError([Finding(code="FL219", message=message, hint=HINT)])
        entry = entry.model_copy(update={"digest": digest})
    else:
        _check_folder(repository, digest)
        return FolderSource.of(Path(repository).resolve(), serving_container(loaded, entry))
    spec = loaded.spec.model_copy(update={"models": (entry,)})
    data: dict[str, object] = {"models": [{"archive": archive, "repository": repository}]}
    added = LoadedSpec(spec, Source(loaded.source.file, data))
    if findings := list(source_findings(project, added)):
        raise FindingsError(findings)
    return source_of(SpecRepositories(added), spec.packed[0], s3)


@contextmanager
def told_of_arguments(loaded: LoadedSpec) -> Iterator[None]:
    """Rewrite findings about an entry of the spec as findings about the command's arguments.

    Raises:
        FindingsError: the findings.
    """
    try:
        yield
    except FindingsError as error:
        raise FindingsError(
            [_place_finding(finding, loaded.source.file) for finding in error.findings]
        ) from error


def _place_finding(finding: Finding, spec: Path) -> Finding:
    if finding.file != spec:
        return finding
    hint = OF_A_SPEC.sub(r"pass `--digest \g<digest>`", finding.hint)
    return replace(finding, file=None, line=None, column=None, hint=hint)


def _check_folder(repository: str, digest: str | None) -> None:
    folder = Path(repository)
    if digest is not None:
        message, hint = "--digest is for a repository in S3, and this is a folder", "leave it out"
        raise FindingsError([Finding(code="FL339", message=message, hint=hint)])
    if not folder.is_dir():
        message = f"{repository} {'is not a folder' if folder.exists() else 'does not exist'}"
        raise FindingsError([Finding(code="FL401", message=message)])
