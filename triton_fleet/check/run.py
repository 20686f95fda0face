"""Everything that is known to be wrong with an environment's endpoints before AWS is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from triton_fleet.check.git_folders import own_git_findings
from triton_fleet.check.lock_drift import differences, image_findings, stale_findings
from triton_fleet.check.repository_owners import owned_specs, ownership_findings
from triton_fleet.check.spec_repositories import repository_findings
from triton_fleet.context.context import EndpointContext
from triton_fleet.core.parallel import all_in_processes
from triton_fleet.endpoint.environment import environment_findings, environment_warnings
from triton_fleet.endpoint.fleet_buckets import source_findings
from triton_fleet.endpoint.locks import MISSING, locked_context
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedFleet
from triton_fleet.findings import Finding, FindingsError, Severity, collect_findings, with_endpoints
from triton_fleet.project.membership import WITHOUT_SPEC, locked_endpoints
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.project.spec_files import same_names
from triton_fleet.rules.apply import rule_findings
from triton_fleet.rules.policies.check import policy_findings
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import finding_at
from triton_fleet.store.lock_measurement import draft_lock
from triton_fleet.store.sources.spec_sources import SpecRepositories


def checked_fleet(project: Project, *, locked: bool = False, today: date | None = None) -> ResolvedFleet:
    """The fleet as it is to be deployed; with `locked`, whatever the repositories hold by now.

    Args:
        project: An environment and some of its endpoints.
        locked: Take locks as they are.
        today: The day on which policies are checked; None: they are not.

    Raises:
        FindingsError: what is wrong with specs, locks and repositories, and what a policy refuses.
    """
    found = policy_findings(project, project.readable_specs(), today) if today else []
    try:
        fleet = resolve_project(project) if locked else judged_fleet(project, compared=True)
    except FindingsError as error:
        raise FindingsError(list(dict.fromkeys([*error.findings, *found]))) from error
    if any(each.severity is Severity.ERROR for each in found):
        raise FindingsError([*fleet.warnings, *found])
    return replace(fleet, warnings=(*fleet.warnings, *found))


def judged_fleet(project: Project, *, compared: bool = False) -> ResolvedFleet:
    """The fleet with its repositories as they are.

    Args:
        project: An environment and some of its endpoints.
        compared: Whether the locks are compared with the repositories; else they are known to match.

    Raises:
        FindingsError: what is wrong with specs, locks and repositories.
    """
    wrong = with_endpoints(
        (loaded.spec.endpoint, folder_error)
        for loaded in project.readable_specs()
        for folder_error in _folder_errors(project, loaded, compared)
    )
    try:
        fleet = resolve_project(project, reads_folders=not project.is_promoted)
    except FindingsError as error:
        raise FindingsError(list(dict.fromkeys([*error.findings, *wrong]))) from error
    if wrong:
        raise FindingsError(list(dict.fromkeys([*fleet.warnings, *wrong])))
    return fleet


def all_findings(
    project: Project,
    drafts: Iterable[Path] = (),
    *,
    locked: bool = False,
    compared: bool = True,
    today: date | None = None,
) -> list[Finding]:
    """What is wrong or doubtful, for people who write specs; sorted by place, each once.

    An endpoint that has no lock yet is checked by its repositories as they are.

    Args:
        project: An environment and some of its endpoints.
        drafts: Further specs, which may be anywhere and need no lock.
        locked: Take locks as they are, whatever the repositories hold: no weights are read.
        compared: Whether locks are compared with the repositories, whose weights are read for it.
        today: The day on which policies are checked; None: they are not.
    """
    findings, drafted = [*project.findings, *environment_findings(project)], list[tuple[Path, LoadedSpec]]()
    findings += environment_warnings(project.environment, project.environment_source)
    findings += [*own_git_findings(project.root), *orphan_locks(project)]
    specs, found = list[LoadedSpec](), dict[str, list[Finding]]()
    for name in project.endpoints:
        with collect_findings(found.setdefault(name, [])):
            specs.append(project.load(name))
    for file in drafts:
        with collect_findings(findings):
            drafted.append((file, project.draft(file)))
    whole = [*specs, *(loaded for _, loaded in drafted)]
    # What depends on an endpoint's own files alone is done on all cores.
    of_endpoints, of_policies = all_in_processes(
        specs,
        lambda each: _of_loaded(project, each, locked=locked, compared=compared),
        beside=lambda: policy_findings(project, whole, today) if today else [],
    )
    for each, more in zip(specs, of_endpoints, strict=True):
        found[each.spec.endpoint] += more
    findings += with_endpoints((name, each) for name, of_one in found.items() for each in of_one)
    for _, loaded in drafted:
        with collect_findings(findings):
            findings += draft_findings(project, loaded)
    if not project.is_promoted:
        findings += ownership_findings(project.root, owned_specs(whole))
    drafts_by_name = [(loaded.spec.endpoint, file) for file, loaded in drafted]
    findings += [*same_names(project.root, drafts_by_name), *idle_notifications(project, specs), *of_policies]
    return sorted(map(with_line, dict.fromkeys(findings)), key=lambda finding: finding.sort_key)


def orphan_locks(project: Project) -> list[Finding]:
    """Locks of endpoints without a spec, or that the environment does not have, where all are checked."""
    members, environment = {*project.spec_files}, project.environment.environment
    unadopted = {finding.file for finding in project.findings if finding.code == WITHOUT_SPEC}
    if environment == LOCAL or {*project.endpoints} != members:
        return []
    return [
        Finding(
            code="FL842",
            severity=Severity.WARNING,
            message=f"this is a lock of {name!r}, which {environment} does not have",
            hint=f"`fleet destroy {name} --env {environment}` if it is deployed, then `git rm` this file",
            file=project.lock_file(name),
            line=1,
        )
        for name in locked_endpoints(project.root, environment)
        if name not in members and project.lock_file(name) not in unadopted
    ]


def _of_loaded(project: Project, loaded: LoadedSpec, *, locked: bool, compared: bool) -> list[Finding]:
    found = list[Finding]()
    with collect_findings(found):
        found += _of_endpoint(project, loaded, locked=locked, compared=compared)
    return found


def with_line(finding: Finding) -> Finding:
    """A finding about a whole file, at its first line: annotations and editors need one."""
    return finding if finding.line or not finding.file else replace(finding, line=1)


def _folder_errors(project: Project, loaded: LoadedSpec, compared: bool) -> list[Finding]:
    """The errors in an endpoint's folders; a broken spec or lock is reported where it is resolved."""
    errors, repositories = list[Finding](), SpecRepositories(loaded)
    if compared:
        errors += stale_findings(project, loaded.spec.endpoint, repositories)
    if not project.is_promoted:
        errors += repository_findings(repositories)
    return [each for each in errors if each.severity is Severity.ERROR]


def _of_endpoint(project: Project, loaded: LoadedSpec, *, locked: bool, compared: bool) -> list[Finding]:
    reads = not (locked or project.is_promoted)
    decided, wrong = locked_context(project, loaded, reads_folders=reads)
    if decided.lock is None:
        name = project.environment.environment
        if name == LOCAL:  # `fleet local up` writes it
            wrong = [each for each in wrong if each.code != MISSING]
        elif not locked_endpoints(project.root, name):  # an environment that is not in use yet
            wrong = [
                replace(each, severity=Severity.WARNING) if each.code == MISSING else each for each in wrong
            ]
        return [*wrong, *draft_findings(project, loaded)]
    found = [*wrong, *source_findings(project, loaded), *rule_findings(decided)]
    if reads:
        repositories = SpecRepositories(loaded)
        if compared:
            found += differences(project, repositories, decided.lock)
        found += repository_findings(repositories)
    return found


def draft_findings(project: Project, loaded: LoadedSpec) -> list[Finding]:
    """What is wrong or doubtful with a spec that has no lock, by its repositories as they are."""
    repositories = SpecRepositories(loaded)
    lock, refused = draft_lock(repositories)
    decided = EndpointContext(loaded=loaded, environment=project.environment, lock=lock, reads_folders=True)
    findings = [*source_findings(project, loaded), *rule_findings(decided), *refused]
    findings += [*image_findings(project, loaded, None), *repository_findings(repositories)]
    return list(dict.fromkeys(findings))


def idle_notifications(project: Project, specs: Sequence[LoadedSpec]) -> Iterator[Finding]:
    """A warning for each, where the specs are all endpoints that the environment has or may get."""
    names = {spec.spec.endpoint for spec in specs}
    if not names or names != {*project.spec_files} or project.unpromoted:
        return
    environment = project.environment
    owners = sorted({spec.spec.owner.team for spec in specs if spec.spec.owner})
    for team in environment.notifications.owners if environment.environment != LOCAL else ():
        if team not in owners:
            message = (
                f"`notifications.owners` has {team!r}, which owns no endpoint of {environment.environment}"
            )
            meant = did_you_mean(team, owners)
            hint = f"{meant}{' ' if meant.endswith('?') else '; '}otherwise remove it"
            if not owners:
                hint = "remove it: no spec has an `owner`"
            mark = project.environment_source.mark(("notifications", "owners", team))
            yield replace(finding_at(mark, "FL518", message, hint), severity=Severity.WARNING)
