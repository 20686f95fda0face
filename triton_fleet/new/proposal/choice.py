"""The release and the instance of a proposed endpoint: the cheapest on which the least is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeAlias

from triton_fleet.catalog.images import releases
from triton_fleet.catalog.instances import Instance
from triton_fleet.check.spec_repositories import repository_findings
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.new.proposal.repositories import FolderRepositories
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.rules.apply import rule_findings
from triton_fleet.rules.names import name_of
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.source import Mark, Source
from triton_fleet.store.lock_measurement import draft_lock
from triton_fleet.store.sources.spec_sources import Sources, SpecRepositories


class Draft:
    """Repositories are read once, however many specs of them are checked.

    Args:
        file: Where the spec will be.
        repositories: Those of the folder, in the order of the spec's `models`.
        projects: The environments that it has to hold in, one at least.
    """

    def __init__(self, file: Path, repositories: FolderRepositories, projects: tuple[Project, ...]) -> None:
        self._file, self._contents, self._projects = file, repositories.repositories, projects
        self._lock: Lock | None = None
        self._sources: Sources = {}

    def context(self, data: Mapping[str, object], project: Project | None = None) -> EndpointContext:
        """The context of a spec in an environment, the first if none is named.

        Raises:
            FindingsError: it is not a spec, or its repositories cannot be packed.
        """
        project = project or self._projects[0]
        source = Source(self._file, dict(data), {(): Mark(self._file, 1, 1)})
        spec = project.draft_source(source)
        return EndpointContext(
            loaded_spec=spec, environment=project.environment, lock=self._lock_of(spec), reads_folders=True
        )

    def findings(self, data: Mapping[str, object]) -> list[Finding]:
        """The findings of a spec, in any environment, each once.

        Raises:
            FindingsError: it is not a spec, or its repositories cannot be packed.
        """
        findings = list[Finding]()
        for project in self._projects:
            endpoint = self.context(data, project)
            findings += [
                *rule_findings(endpoint),
                *repository_findings(self._repositories(endpoint.loaded_spec)),
            ]
        return list(dict.fromkeys(findings))

    def _lock_of(self, spec: LoadedSpec) -> Lock:
        """The facts of the models; neither the release nor the instance changes them."""
        if self._lock is None:
            repositories = self._repositories(spec)
            lock, refusals = draft_lock(repositories)
            if refusals:
                raise FindingsError([*refusals, *repository_findings(repositories)])
            self._lock = lock
        return self._lock

    def _repositories(self, spec: LoadedSpec) -> SpecRepositories:
        return SpecRepositories(spec, self._contents, self._sources)


Weight: TypeAlias = tuple[int, bool, int]
"""Of a pair: errors, a lack of room, doubts; each weighs more than all that follow."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The release and the instance that are taken, and those that are not.

    Attributes:
        findings: What its check still reports.
        newer: The next release, and its worst finding; None if the newest is taken.
        passed_over: The cheapest instance, and why it is not taken; None if it is.
    """

    release: str
    machine: Instance
    findings: tuple[Finding, ...]
    newer: tuple[str, str] | None
    passed_over: tuple[Instance, str] | None


def choose(
    machines: Sequence[Instance],
    lacks: Callable[[Instance], str],
    findings_of: Callable[[str, Instance], Sequence[Finding]],
) -> Choice:
    """The cheapest instance with the newest release on which the least is wrong.

    Of each family the cheapest size with room is looked at; the others only where each of these has an error.

    Args:
        machines: The cheapest first.
        lacks: What an instance has too little of; empty where there is room.
        findings_of: What is wrong or doubtful with a release on an instance; asked once for each pair.
    """
    ask = cache(lambda release, machine: tuple(findings_of(release, machine)))
    newest_first = releases()[::-1]

    def weight(pair: tuple[Instance, str]) -> Weight:
        machine, release = pair
        errors = sum(finding.severity is Severity.ERROR for finding in ask(release, machine))
        return errors, bool(lacks(machine)), len(ask(release, machine)) - errors

    roomy_first = sorted(machines, key=lambda instance: bool(lacks(instance)))
    of_families = {instance.family: instance for instance in reversed(roomy_first)}.values()
    usual = [instance for instance in roomy_first if instance in of_families]
    machine, release = _lightest(product(usual, newest_first), weight)
    if weight((machine, release))[0]:
        second_machine, _ = _lightest(product(roomy_first, [release]), weight)
        machine, release = _lightest(product([machine, second_machine], newest_first), weight)
    accepted_findings, newest = ask(release, machine), newest_first[0]
    newer = newest_first[newest_first.index(release) - 1] if release != newest else None
    first = machines[0]
    return Choice(
        release=release,
        machine=machine,
        findings=accepted_findings,
        newer=None if newer is None else (newer, _refusal(ask(newer, machine), accepted_findings)),
        passed_over=None
        if machine == first
        else (first, lacks(first) or _refusal(ask(release, first), accepted_findings)),
    )


def _lightest(
    pairs: Iterable[tuple[Instance, str]], weight: Callable[[tuple[Instance, str]], Weight]
) -> tuple[Instance, str]:
    """The first pair of the least weight; none is looked at after one without any."""
    first, *further_pairs = pairs
    best = first
    for pair in further_pairs:
        if weight(best) == (0, False, 0):
            break
        if weight(pair) < weight(best):
            best = pair
    return best


def _refusal(findings: Sequence[Finding], accepted_findings: Sequence[Finding]) -> str:
    """The worst finding of what was not taken; first of those that what was taken does not have."""
    codes = {finding.code for finding in accepted_findings}
    worst = min(findings, key=lambda finding: (finding.code in codes, finding.severity is not Severity.ERROR))
    return f"{worst.message} ({name_of(worst.code)}, {worst.code})"
