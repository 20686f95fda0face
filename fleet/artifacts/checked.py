"""Everything that is known to be wrong with an environment's endpoints before AWS is asked."""

from __future__ import annotations

from fleet.artifacts.stale import stale_findings
from fleet.findings import Finding, FindingsError
from fleet.resolve.resolve import resolve_project
from fleet.spec.project import Project


def all_findings(project: Project, *, locked: bool = False) -> list[Finding]:
    """What is wrong with specs, locks and repositories; with `locked`, the locks are taken as they are."""
    stale = [] if locked else [each for name in project.endpoints for each in stale_findings(project, name)]
    try:
        resolve_project(project)
    except FindingsError as error:
        return [*error.findings, *stale]
    return stale
