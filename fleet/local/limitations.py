"""What no local fleet can serve, or not yet: told before anything is started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

from fleet.endpoint.context.context import Decided
from fleet.endpoint.locks import read_lock
from fleet.findings import Finding, FindingsError, Severity
from fleet.local.packages import PACKAGES, Find, missing_package
from fleet.local.plans import plan_findings
from fleet.spec.project import Project
from fleet.spec.source import finding_at

CODE = "FL383"


def servable(project: Project, *, named: bool, find: Find = find_spec) -> tuple[Project, list[Finding]]:
    """The project with the endpoints that this machine can serve, and what is to be said first.

    Args:
        project: With the locks of the local environment.
        named: Whether the user has named the endpoints: then none of them is left out.
        find: What is behind a module's name, if anything.

    Raises:
        FindingsError: an endpoint that was named cannot be served, or none can.
    """
    found = {name: list(_of_endpoint(project, name, find)) for name in project.endpoints}
    refused = {name for name, told in found.items() if any(each.severity is Severity.ERROR for each in told)}
    others = tuple(name for name in project.endpoints if name not in refused)
    if refused and (named or not others):
        leave = f"; or leave it out: `fleet local up {' '.join(others)}`" if others else ""
        raise FindingsError([_refused(each, leave) for told in found.values() for each in told])
    findings = [_left_out(each) for told in found.values() for each in told]
    return replace(project, endpoints=others), findings


def _refused(finding: Finding, leave: str) -> Finding:
    if finding.severity is not Severity.ERROR:
        return finding
    return replace(finding, hint=f"{finding.hint}{leave}")


def _left_out(finding: Finding) -> Finding:
    if finding.severity is not Severity.ERROR:
        return finding
    return replace(finding, message=f"{finding.message}; it is left out", severity=Severity.WARNING)


def _of_endpoint(project: Project, name: str, find: Find) -> Iterator[Finding]:
    loaded = project.load(name)
    lock, _ = read_lock(project, loaded.spec)
    decided = Decided(loaded=loaded, environment=project.environment, lock=lock)
    yield from plan_findings(decided)
    yield from _packages(decided, find)


def _packages(decided: Decided, find: Find) -> Iterator[Finding]:
    """An error for each package that models of the endpoint need and that is missing."""
    for backend, package in PACKAGES.items():
        models = [each for each in decided.loaded_models() if each.facts.backend == backend]
        if models and missing_package(backend, find) is not None:
            names = ", ".join(dict.fromkeys(each.name for each in models))
            message = f"this machine cannot serve {decided.spec.endpoint!r} ({names}) yet: {package.missing}"
            hint = f"`{package.install}`, the build for CPUs where your index has one"
            mark = decided.source.mark(("models", models[0].index, "archive"))
            yield finding_at(mark, CODE, message, hint)
