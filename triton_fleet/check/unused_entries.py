"""Entries that nothing uses: overrides, choices and specs of endpoints, locks, schedules of the past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from fnmatch import fnmatchcase

from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.schedule import last_day
from triton_fleet.spec.source import LOCK_END, LOCKS, Mark, finding_at

OVERRIDE, ENDPOINT, SCHEDULE, LOCK = "FL575", "FL576", "FL577", "FL842"


def unused_entries(project: Project, specs: Sequence[LoadedSpec], today: date | None) -> Iterator[Finding]:
    """A warning for each; for what may be of another endpoint, only where all are checked.

    Args:
        project: An environment and some of its endpoints.
        specs: Those of them that can be read.
        today: The day, in UTC; None: no schedule is compared with it.
    """
    if today is not None:
        yield from _past_schedules(specs, today)
    yield from _overrides_of_environment(project)
    yield from _chosen_endpoints(project)
    if not project.is_promoted:
        yield from _overrides_of_specs(project, specs)
    if {*project.endpoints} == {*project.spec_files} and project.environment.environment != LOCAL:
        yield from _endpoints_without_environment(project)
        yield from _locks_without_environment(project)


def _absent_names(project: Project) -> list[str]:
    """The endpoints that the environment does not have and that no promotion may bring."""
    return [name for name in project.absent if name not in project.unpromoted_names]


def _overrides_of_environment(project: Project) -> Iterator[Finding]:
    absent_names = _absent_names(project)
    for name in project.environment.overrides:
        if name in absent_names:
            mark = project.environment_source.mark(("overrides", name))
            message = f"these `overrides` have no effect: {project.absent[name].message}"
            yield _warning(mark, OVERRIDE, message, "remove them")


def _chosen_endpoints(project: Project) -> Iterator[Finding]:
    """Patterns of the environment's `endpoints` that match only endpoints which leave it out themselves."""
    absent_names = _absent_names(project)
    names = [*project.spec_files, *project.absent]
    for index, pattern in enumerate(project.environment.endpoints or ()):
        matches = [name for name in names if fnmatchcase(name, pattern)]
        if matches and all(name in absent_names for name in matches):
            mark = project.environment_source.mark(("endpoints", index))
            message = f"{pattern!r} has no effect: {project.absent[matches[0]].message}"
            yield _warning(mark, ENDPOINT, message, "remove it, or add the environment there")


def _overrides_of_specs(project: Project, specs: Sequence[LoadedSpec]) -> Iterator[Finding]:
    """Those that a spec itself has for an environment which does not have the endpoint."""
    for loaded_spec in specs:
        name = loaded_spec.spec.endpoint
        source = project.fleet.source(project.spec_files[name])
        overrides = source.data.get("overrides")
        for environment in overrides if isinstance(overrides, dict) else ():
            is_in_aws = environment in project.fleet.environments and environment != LOCAL
            if is_in_aws and (reason := _exclusion(project, loaded_spec, environment)):
                mark = source.mark(("overrides", environment))
                message = f"`overrides` for {environment} has no effect: {reason}"
                yield _warning(mark, OVERRIDE, message, "remove it, or add the endpoint there")


def _past_schedules(specs: Sequence[LoadedSpec], today: date) -> Iterator[Finding]:
    """Schedules of scaling that ended, in every time zone."""
    for loaded_spec in specs:
        scaling = loaded_spec.spec.scaling
        for index, schedule in enumerate(scaling.schedules if scaling else ()):
            day = last_day(schedule.at)
            if day is not None and day < today - timedelta(days=1):
                mark = loaded_spec.source.mark(("scaling", "schedules", index, "at"))
                message = f"the schedule {schedule.name!r} never fires again: its last day was {day}"
                yield _warning(mark, SCHEDULE, message, "remove it, or write a later time")


def _exclusion(project: Project, loaded_spec: LoadedSpec, environment: str) -> str:
    """The reason why an environment does not have an endpoint; empty without one."""
    environments, name = loaded_spec.spec.environments, loaded_spec.spec.endpoint
    if environments is not None and environment not in environments:
        return f"the endpoint's `environments` has {', '.join(environments) or 'none'}"
    settings = project.fleet.environment.readable(environment)
    patterns = settings.endpoints if settings else None
    if patterns is not None and not any(fnmatchcase(name, pattern) for pattern in patterns):
        return f"`endpoints` of environments/{environment}.yaml does not include {name}"
    return ""


def _endpoints_without_environment(project: Project) -> Iterator[Finding]:
    """Specs that no environment of an account has, if all environments can be read."""
    names = {*_absent_names(project)} & {*project.fleet.specs.by_endpoint}
    for environment in project.fleet.environments if names else ():
        if environment != LOCAL:
            try:
                other_project = project.fleet.open(environment)
            except FindingsError:
                return
            names -= {*other_project.spec_files, *other_project.unpromoted_names}
    for name in sorted(names):
        mark = project.fleet.source(project.fleet.specs.by_endpoint[name]).mark(("environments",))
        message = f"no environment but {LOCAL} has {name!r}, so nothing deploys it"
        hint = "name environments in `environments`, or remove the spec"
        yield _warning(mark, ENDPOINT, message, hint)


def _locks_without_environment(project: Project) -> Iterator[Finding]:
    """Folders with locks of an environment that has no file."""
    for folder in sorted((project.root / LOCKS).glob("*/")):
        if folder.name not in project.fleet.environments and any(folder.glob(f"*{LOCK_END}")):
            message = f"these are locks of an environment that has no file: {folder.name!r}"
            hint = f"`git rm -r {LOCKS}/{folder.name}`, or write environments/{folder.name}.yaml"
            yield Finding(
                code=LOCK, severity=Severity.WARNING, message=message, hint=hint, file=folder, line=1
            )


def _warning(mark: Mark, code: str, message: str, hint: str) -> Finding:
    return replace(finding_at(mark, code, message, hint), severity=Severity.WARNING)
