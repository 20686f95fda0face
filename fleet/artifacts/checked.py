"""Everything that is known to be wrong with an environment's endpoints before AWS is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from fleet.artifacts.draft import draft_lock
from fleet.artifacts.stale import differences, stale_findings
from fleet.decide.decided import Decided
from fleet.findings import Finding, FindingsError, Severity
from fleet.resolve.endpoint import ResolvedFleet
from fleet.resolve.environment import environment_findings
from fleet.resolve.locks import MISSING, read_lock
from fleet.resolve.resolve import resolve_project
from fleet.rules.apply import rule_findings
from fleet.spec.paths import same_names
from fleet.spec.project import LoadedSpec, Project


def checked_fleet(project: Project, *, locked: bool = False) -> ResolvedFleet:
    """The fleet as it is to be deployed; with `locked`, whatever the repositories hold by now.

    Raises:
        FindingsError: what is wrong with specs, locks and repositories.
    """
    stale = [] if locked else [each for name in project.endpoints for each in stale_findings(project, name)]
    try:
        fleet = resolve_project(project)
    except FindingsError as error:
        raise FindingsError([*error.findings, *stale]) from error
    if stale:
        raise FindingsError([*fleet.warnings, *stale])
    return fleet


def all_findings(project: Project, drafts: Iterable[Path] = (), *, locked: bool = False) -> list[Finding]:
    """What is wrong or doubtful, for whoever writes specs; sorted by place, each once.

    An endpoint that has no lock yet is judged by its repositories as they are.

    Args:
        project: An environment and some of its endpoints.
        drafts: Further specs, which may lie anywhere and need no lock.
        locked: Take locks as they are, whatever the repositories hold: no weights are read.
    """
    findings, named = [*project.findings, *environment_findings(project)], list[tuple[str, Path]]()
    for name in project.endpoints:
        with _told(findings):
            findings += _of_endpoint(project, project.load(name), locked=locked)
    for file in drafts:
        with _told(findings):
            loaded = project.draft(file)
            named.append((loaded.spec.endpoint, file))
            findings += _of_draft(project, loaded)
    findings += same_names(named)
    return sorted(map(with_line, dict.fromkeys(findings)), key=lambda finding: finding.sort_key)


def with_line(finding: Finding) -> Finding:
    """What is wrong with a file as a whole is told at its first line: annotations and editors want one."""
    return finding if finding.line or not finding.file else replace(finding, line=1)


@contextmanager
def _told(findings: list[Finding]) -> Iterator[None]:
    try:
        yield
    except FindingsError as error:
        findings += error.findings


def _of_endpoint(project: Project, loaded: LoadedSpec, *, locked: bool) -> list[Finding]:
    lock, wrong = read_lock(project, loaded.spec)
    if lock is None:
        unlocked = [
            replace(each, severity=Severity.WARNING) if each.code == MISSING else each for each in wrong
        ]
        return [*unlocked, *_of_draft(project, loaded)]
    decided = Decided(loaded=loaded, environment=project.environment, lock=lock)
    stale = [] if locked else differences(project, loaded, lock)
    return [*wrong, *rule_findings(decided), *stale]


def _of_draft(project: Project, loaded: LoadedSpec) -> list[Finding]:
    lock, refused = draft_lock(loaded)
    decided = Decided(loaded=loaded, environment=project.environment, lock=lock)
    return [*(each for error in refused for each in error.findings), *rule_findings(decided)]
