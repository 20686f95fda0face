"""A spec in the making, checked in all environments like in `fleet check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from triton_fleet.check.spec_repositories import repository_findings
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.new.proposal.repositories import FolderRepositories
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.rules.apply import rule_findings
from triton_fleet.spec.lock import Lock
from triton_fleet.spec.source import Mark, Source
from triton_fleet.store.lock_measurement import draft_lock
from triton_fleet.store.sources.spec_sources import Sources, SpecRepositories


class Draft:
    """Repositories are read once, however many specs of them are checked.

    Args:
        file: Where the spec will be.
        found: The repositories, in the order of the spec's `models`.
        projects: The environments that it has to hold in, one at least.
    """

    def __init__(self, file: Path, found: FolderRepositories, projects: tuple[Project, ...]) -> None:
        self.file, self.found, self.projects = file, found, projects
        self._lock: Lock | None = None
        self._sources: Sources = {}

    def context(self, data: Mapping[str, object], project: Project | None = None) -> EndpointContext:
        """What a spec leads to in an environment, the first if none is named.

        Raises:
            FindingsError: it is not a spec, or its repositories cannot be packed.
        """
        project = project or self.projects[0]
        source = Source(self.file, dict(data), {(): Mark(self.file, 1, 1)})
        try:
            loaded = project.draft_source(source)
        except FindingsError as error:
            raise FindingsError(self.place_findings(error.findings)) from error
        return EndpointContext(
            loaded=loaded, environment=project.environment, lock=self._lock_of(loaded), reads_folders=True
        )

    def findings(self, data: Mapping[str, object]) -> list[Finding]:
        """What is wrong or doubtful with a spec, in any environment, each once.

        Raises:
            FindingsError: it is not a spec, or its repositories cannot be packed.
        """
        found = list[Finding]()
        for project in self.projects:
            decided = self.context(data, project)
            found += [*rule_findings(decided), *repository_findings(self._repositories(decided.loaded))]
        return self.place_findings(found)

    def place_findings(self, findings: Iterable[Finding]) -> list[Finding]:
        """Findings, each once; those of the spec, which does not exist yet, are placed at the folder."""
        return list(dict.fromkeys(map(self._place_finding, findings)))

    def _place_finding(self, finding: Finding) -> Finding:
        if finding.file != self.file:
            return finding
        return replace(finding, file=self.found.folder, line=None, column=None)

    def _lock_of(self, loaded: LoadedSpec) -> Lock:
        """The facts of the models; neither the release nor the instance changes them."""
        if self._lock is None:
            repositories = self._repositories(loaded)
            lock, refused = draft_lock(repositories)
            if refused:
                raise FindingsError(self.place_findings([*refused, *repository_findings(repositories)]))
            self._lock = lock
        return self._lock

    def _repositories(self, loaded: LoadedSpec) -> SpecRepositories:
        return SpecRepositories(loaded, self.found.repositories, self._sources)
