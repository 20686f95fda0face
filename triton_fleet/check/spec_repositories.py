"""The repositories of a spec, checked as the container of its endpoint would load them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from triton_fleet.check.engines import engine_findings
from triton_fleet.check.git_folders import input_git_findings
from triton_fleet.check.samples import sample_findings
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.rules.names import allowed_codes, code_of
from triton_fleet.rules.other_codes import allowable_codes
from triton_fleet.rules.registry import rules
from triton_fleet.spec.endpoint import in_s3
from triton_fleet.spec.source import finding_at
from triton_fleet.store.sources.spec_sources import SpecRepositories


def repository_findings(repositories: SpecRepositories) -> Iterator[Finding]:
    """What is wrong with the spec's folders, without what it allows itself, and what it allows for nothing.

    Folders that cannot be read, and what is in S3, are left out.
    """
    loaded = repositories.loaded
    found = [*input_git_findings(repositories), *_of_folders(repositories)]
    allowed = allowed_codes(loaded.spec.allow)
    allowed |= {rules()[code].in_files for code in allowed if code in rules()} & allowable_codes()
    yield from (each for each in found if each.code not in allowed)
    codes = {each.code for each in found}
    for word in loaded.spec.allow:
        mark = loaded.source.mark(("allow", word))
        if code_of(word) in allowable_codes() - codes and mark.file == loaded.source.file:
            unused = finding_at(
                mark, "FL130", f"`allow` names {word}, which finds nothing here", "leave it out"
            )
            yield replace(unused, severity=Severity.WARNING)


def _of_folders(repositories: SpecRepositories) -> Iterator[Finding]:
    loaded = repositories.loaded
    for index, archive in enumerate(loaded.spec.models):
        if in_s3(archive):
            continue
        with suppress(FindingsError):  # reported where it is packed
            folder = repositories.folder(index)
            yield from folder.plan.findings
            if not folder.plan.refusals:
                yield from sample_findings(loaded, index, folder.plan)
                yield from engine_findings(loaded, index, folder.contents, folder.plan.models)
