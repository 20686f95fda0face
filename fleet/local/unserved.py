"""What no local fleet can serve, or not yet: told before anything is started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec

from fleet.decide.decided import Decided
from fleet.findings import Finding, Severity
from fleet.local.packages import PACKAGES, Find, missing_package
from fleet.local.plans import plan_findings
from fleet.resolve.locks import read_lock
from fleet.spec.project import Project
from fleet.spec.source import finding_at

CODE = "FL383"


def unserved(project: Project, find: Find = find_spec) -> list[Finding]:
    """What of the project's endpoints this machine cannot serve.

    Args:
        project: With the locks of the local environment.
        find: What is behind a module's name, if anything.
    """
    found = [each for name in project.endpoints for each in _of_endpoint(project, name, find)]
    refused = {each.file for each in found if each.severity is Severity.ERROR}
    others = " ".join(name for name in project.endpoints if project.load(name).source.file not in refused)
    if not others:
        return found
    leave = f"; or leave it out: `fleet local up {others}`"
    return [replace(each, hint=each.hint + leave * (each.severity is Severity.ERROR)) for each in found]


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
