"""The repositories of a spec, checked as the container of its endpoint would load them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from fleet.artifacts.sources.spec_sources import built_models, repository_of
from fleet.check.engines import engine_findings
from fleet.check.git_folders import input_git_findings
from fleet.check.samples import sample_findings
from fleet.findings import Finding, FindingsError, Severity
from fleet.repository.contents import Contents
from fleet.repository.layout import model_names
from fleet.repository.loading.container import ServingContainer
from fleet.repository.loading.load_plan import LoadPlan, plan_load
from fleet.repository.reading.folder import read_folder
from fleet.rules.names import allowed_codes, code_of
from fleet.rules.other_codes import allowable_codes
from fleet.spec.endpoint import Archive, Mode
from fleet.spec.project import LoadedSpec
from fleet.spec.s3_repository import in_s3
from fleet.spec.source import finding_at

LOAD, NOT_NAMED = "--load-model", "FL460"
SUPERSEDED_BY = {"FL255": "FL415", "FL289": "FL411", "FL247": "FL435"}
"""Rules that go by a lock, and the code of the same mistake where the repository itself is read."""


def repository_findings(loaded: LoadedSpec) -> Iterator[Finding]:
    """What is wrong with the spec's folders, without what it allows itself, and what it allows for nothing.

    Folders that cannot be read, and what is in S3, are left out.
    """
    found = [*input_git_findings(loaded), *_of_folders(loaded)]
    allowed = allowed_codes(loaded.spec.allow)
    yield from (each for each in found if each.code not in allowed)
    codes = {each.code for each in found}
    for word in loaded.spec.allow:
        mark = loaded.source.mark(("allow", word))
        if code_of(word) in allowable_codes() - codes and mark.file == loaded.source.file:
            unused = finding_at(
                mark, "FL130", f"`allow` names {word}, which finds nothing here", "leave it out"
            )
            yield replace(unused, severity=Severity.WARNING)


def _of_folders(loaded: LoadedSpec) -> Iterator[Finding]:
    for index, archive in enumerate(loaded.spec.models):
        if in_s3(archive):
            continue
        with suppress(FindingsError):  # reported where it is packed
            folder = repository_of(loaded, index)
            # A folder that is not a repository at all, such as a whole disk, is not read.
            model_names(folder, built_models(archive))
            contents = read_folder(folder, packed=True)
            verdict = plan_load(contents, setting_of(loaded, archive))
            yield from contents_findings(loaded, index, contents, verdict)


def contents_findings(
    loaded: LoadedSpec, index: int, contents: Contents, verdict: LoadPlan
) -> Iterator[Finding]:
    """What is wrong with one of the spec's repositories.

    Args:
        loaded: The spec.
        index: Which entry of its `models`.
        contents: The repository.
        verdict: What its container makes of it, see `setting_of`.
    """
    for each in verdict.findings:
        if each.code != NOT_NAMED or loaded.spec.default_model is not None:
            yield each
    yield from sample_findings(loaded, index, contents, verdict.main)
    yield from engine_findings(loaded, index, contents)


def setting_of(loaded: LoadedSpec, archive: Archive) -> ServingContainer:
    """The container that a spec puts one of its repositories into."""
    spec = loaded.spec
    flags = (flag.partition("=") for flag in spec.container.additional_args)
    return ServingContainer(
        multi_model=spec.mode is Mode.MULTI_MODEL,
        loads_all=spec.mode is Mode.SHARED_CONTAINER,
        release=spec.triton,
        default_model=spec.default_model if spec.mode is Mode.SINGLE else None,
        further=frozenset(model for flag, _, model in flags if flag == LOAD),
        built=built_models(archive),
        own_image=spec.own_image is not None,
    )


def without_repeats(found: Iterable[Finding], of_repositories: Iterable[Finding]) -> list[Finding]:
    """Both together, without findings that repeat one of a repository in other words."""
    judged_ones = list(of_repositories)
    reported = {(each.code, each.file) for each in judged_ones}
    others = [
        each
        for each in found
        if (each.code, each.file) not in reported and not _is_reported(each, judged_ones)
    ]
    return [*others, *judged_ones]


def _is_reported(finding: Finding, judged_ones: Iterable[Finding]) -> bool:
    """Whether the same is reported of the same model, at its own file."""
    better = SUPERSEDED_BY.get(finding.code)
    return any(
        each.code == better and each.file is not None and each.file.parent.name in finding.message
        for each in judged_ones
    )
