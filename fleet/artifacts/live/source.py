"""What a live set's new archive is packed from: a repository that the command names, and no spec."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fleet.artifacts.sources.source import ArchiveSource
from fleet.artifacts.sources.spec_sources import Connect, source_of
from fleet.findings import Finding, FindingsError
from fleet.spec.endpoint import Archive
from fleet.spec.project import LoadedSpec
from fleet.spec.s3_repository import HINT, in_s3, name_problem
from fleet.spec.source import Source

OF_A_SPEC = re.compile(r"write `digest: (?P<digest>\S+)`")


def repository_source(
    loaded: LoadedSpec, archive: str, repository: str, digest: str | None, s3: Connect
) -> ArchiveSource:
    """A repository as `fleet lock` would read it, were it an entry of the spec; a path is the user's own.

    Raises:
        FindingsError: it is not there, or it cannot be named so.
    """
    entry = Archive(archive=archive, repository=repository)
    if in_s3(entry):
        if message := name_problem(entry):
            raise FindingsError([Finding(code="FL219", message=message, hint=HINT)])
        entry = entry.model_copy(update={"digest": digest})
    else:
        _check_folder(repository, digest)
        entry = entry.model_copy(update={"repository": str(Path(repository).resolve())})
    spec = loaded.spec.model_copy(update={"models": (entry,)})
    return source_of(LoadedSpec(spec, Source(loaded.source.file, {})), spec.packed[0], s3)


@contextmanager
def told_of_arguments(loaded: LoadedSpec) -> Iterator[None]:
    """Read the repository; what is wrong with what an entry of the spec would say is told of the command's.

    Raises:
        FindingsError: what is wrong.
    """
    try:
        yield
    except FindingsError as error:
        raise FindingsError([_place_finding(each, loaded.source.file) for each in error.findings]) from error


def _place_finding(finding: Finding, spec: Path) -> Finding:
    if finding.file != spec:
        return finding
    hint = OF_A_SPEC.sub(r"say `--digest \g<digest>`", finding.hint)
    return replace(finding, file=None, line=None, column=None, hint=hint)


def _check_folder(repository: str, digest: str | None) -> None:
    folder = Path(repository)
    if digest is not None:
        message, hint = "--digest says what is expected in S3, and this is a folder", "leave it out"
        raise FindingsError([Finding(code="FL339", message=message, hint=hint)])
    if not folder.is_dir():
        message = f"{repository} is {'no folder' if folder.exists() else 'not there'}"
        raise FindingsError([Finding(code="FL401", message=message)])
