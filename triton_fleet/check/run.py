"""Everything that is known to be wrong with an environment's endpoints before AWS is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from triton_fleet.check.git_folders import own_git_findings
from triton_fleet.check.lock_drift import differences, image_findings, stale_findings
from triton_fleet.check.processes import all_in_processes
from triton_fleet.check.repository_owners import owned_specs, ownership_findings
from triton_fleet.check.spec_repositories import repository_findings
from triton_fleet.check.unused_entries import unused_entries
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.bucket_keys import source_findings
from triton_fleet.endpoint.environment import environment_findings, environment_warnings
from triton_fleet.endpoint.locks import NO_LOCK, locked_context
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


def checked_fleet(
    project: Project, *, trusts_locks: bool = False, today: date | None = None
) -> ResolvedFleet:
    """The fleet as it is to be deployed; with `trusts_locks`, whatever the repositories hold by now.

    Args:
        project: An environment and some of its endpoints.
        trusts_locks: Take locks as they are.
        today: The day on which policies are checked; None: they are not.

    Raises:
        FindingsError: what is wrong with specs, locks and repositories, and what a policy refuses.
    """
    policy_results = policy_findings(project, project.readable_specs(), today) if today else []
    try:
        fleet = resolve_project(project) if trusts_locks else judged_fleet(project, compares_locks=True)
    except FindingsError as error:
        raise FindingsError(list(dict.fromkeys([*error.findings, *policy_results]))) from error
    if any(finding.severity is Severity.ERROR for finding in policy_results):
        raise FindingsError([*fleet.warnings, *policy_results])
    return replace(fleet, warnings=(*fleet.warnings, *policy_results))


def judged_fleet(project: Project, *, compares_locks: bool = False) -> ResolvedFleet:
    """The fleet with its repositories as they are.

    Args:
        project: An environment and some of its endpoints.
        compares_locks: Whether the locks are compared with the repositories; else they are known to match.

    Raises:
        FindingsError: what is wrong with specs, locks and repositories.
    """
    wrong = with_endpoints(
        (spec.spec.endpoint, folder_error)
        for spec in project.readable_specs()
        for folder_error in _folder_errors(project, spec, compares_locks)
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
    trusts_locks: bool = False,
    compares_locks: bool = True,
    today: date | None = None,
) -> list[Finding]:
    """The findings for people who write specs; sorted by place, each once.

    An endpoint that has no lock yet is checked by its repositories as they are.

    Args:
        project: An environment and some of its endpoints.
        drafts: Further specs, which may be anywhere and need no lock.
        trusts_locks: Take locks as they are, whatever the repositories hold: no weights are read.
        compares_locks: Whether locks are compared with the repositories, whose weights are read for it.
        today: The day on which policies are checked; None: they are not.
    """
    findings, draft_specs = (
        [*project.findings, *environment_findings(project)],
        list[tuple[Path, LoadedSpec]](),
    )
    findings += environment_warnings(project.environment, project.environment_source)
    findings += [*own_git_findings(project.root), *orphan_locks(project)]
    specs, by_endpoint = list[LoadedSpec](), dict[str, list[Finding]]()
    for name in project.endpoints:
        with collect_findings(by_endpoint.setdefault(name, [])):
            specs.append(project.load(name))
    for file in drafts:
        with collect_findings(findings):
            draft_specs.append((file, project.draft(file)))
    whole = [*specs, *(draft_spec for _, draft_spec in draft_specs)]
    # What depends on an endpoint's own files alone is done on all cores.
    of_endpoints, (of_policies, of_owners) = all_in_processes(
        specs,
        lambda loaded_spec: _spec_findings(
            project, loaded_spec, trusts_locks=trusts_locks, compares_locks=compares_locks
        ),
        beside=lambda: (
            policy_findings(project, whole, today) if today else [],
            [] if project.is_promoted else ownership_findings(project.root, owned_specs(whole)),
        ),
    )
    for loaded_spec, more in zip(specs, of_endpoints, strict=True):
        by_endpoint[loaded_spec.spec.endpoint] += more
    findings += with_endpoints(
        (name, loaded_spec)
        for name, endpoint_findings in by_endpoint.items()
        for loaded_spec in endpoint_findings
    )
    for _, draft_spec in draft_specs:
        with collect_findings(findings):
            findings += draft_findings(project, draft_spec)
    findings += of_owners
    drafts_by_name = [(draft_spec.spec.endpoint, file) for file, draft_spec in draft_specs]
    findings += [*same_names(project.root, drafts_by_name), *idle_notifications(project, specs)]
    findings += [*unused_entries(project, specs, today), *of_policies]
    return sorted(map(with_line, dict.fromkeys(findings)), key=lambda finding: finding.sort_key)


def orphan_locks(project: Project) -> list[Finding]:
    """Locks of endpoints without a spec, or that the environment does not have, where all are checked."""
    members, environment = {*project.spec_files}, project.environment.environment
    files_without_spec = {finding.file for finding in project.findings if finding.code == WITHOUT_SPEC}
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
        if name not in members and project.lock_file(name) not in files_without_spec
    ]


def _spec_findings(
    project: Project, spec: LoadedSpec, *, trusts_locks: bool, compares_locks: bool
) -> list[Finding]:
    findings = list[Finding]()
    with collect_findings(findings):
        findings += _of_endpoint(project, spec, trusts_locks=trusts_locks, compares_locks=compares_locks)
    return findings


def with_line(finding: Finding) -> Finding:
    """A finding about a whole file, at its first line: annotations and editors need one."""
    return finding if finding.line or not finding.file else replace(finding, line=1)


def _folder_errors(project: Project, spec: LoadedSpec, compares_locks: bool) -> list[Finding]:
    """The errors in an endpoint's folders; a broken spec or lock is reported where it is resolved."""
    errors, repositories = list[Finding](), SpecRepositories(spec)
    if compares_locks:
        errors += stale_findings(project, spec.spec.endpoint, repositories)
    if not project.is_promoted:
        errors += repository_findings(repositories)
    return [error for error in errors if error.severity is Severity.ERROR]


def _of_endpoint(
    project: Project, spec: LoadedSpec, *, trusts_locks: bool, compares_locks: bool
) -> list[Finding]:
    reads = not (trusts_locks or project.is_promoted)
    endpoint, wrong = locked_context(project, spec, reads_folders=reads)
    if endpoint.lock is None:
        name = project.environment.environment
        if name == LOCAL:  # `fleet local up` writes it
            wrong = [finding for finding in wrong if finding.code != NO_LOCK]
        elif not locked_endpoints(project.root, name):  # an environment that is not in use yet
            wrong = [
                replace(finding, severity=Severity.WARNING) if finding.code == NO_LOCK else finding
                for finding in wrong
            ]
        return [*wrong, *draft_findings(project, spec)]
    findings = [*wrong, *source_findings(project, spec), *rule_findings(endpoint)]
    if reads:
        repositories = SpecRepositories(spec)
        if compares_locks:
            findings += differences(project, repositories, endpoint.lock)
        findings += repository_findings(repositories)
    return findings


def draft_findings(project: Project, loaded_spec: LoadedSpec) -> list[Finding]:
    """The findings of a spec that has no lock, by its repositories as they are."""
    repositories = SpecRepositories(loaded_spec)
    lock, refusals = draft_lock(repositories)
    endpoint = EndpointContext(
        loaded_spec=loaded_spec, environment=project.environment, lock=lock, reads_folders=True
    )
    findings = [*source_findings(project, loaded_spec), *rule_findings(endpoint), *refusals]
    findings += [*image_findings(project, loaded_spec, None), *repository_findings(repositories)]
    return list(dict.fromkeys(findings))


def idle_notifications(project: Project, specs: Sequence[LoadedSpec]) -> Iterator[Finding]:
    """A warning for each, where the specs are all endpoints that the environment has or may get."""
    names = {spec.spec.endpoint for spec in specs}
    if not names or names != {*project.spec_files} or project.unpromoted_names:
        return
    environment = project.environment
    owners = sorted({spec.spec.owner.team for spec in specs if spec.spec.owner})
    for team in environment.notifications.owners if environment.environment != LOCAL else ():
        if team not in owners:
            message = (
                f"`notifications.owners` has {team!r}, which owns no endpoint of {environment.environment}"
            )
            suggestion = did_you_mean(team, owners)
            hint = f"{suggestion}{' ' if suggestion.endswith('?') else '; '}otherwise remove it"
            if not owners:
                hint = "remove it: no spec has an `owner`"
            mark = project.environment_source.mark(("notifications", "owners", team))
            yield replace(finding_at(mark, "FL518", message, hint), severity=Severity.WARNING)
