"""`fleet check`: everything that is known to be wrong, said before anything is deployed."""

from __future__ import annotations

from pathlib import Path

from fleet.artifacts.lock import repository_of
from fleet.cli.arguments import Endpoints, Env
from fleet.cli.say import say
from fleet.findings import Finding, FindingsError
from fleet.project_root import project_root
from fleet.resolve.resolve import resolve_project
from fleet.spec.project import Project, all_of, open_project


def check(env: Env, endpoints: Endpoints = None) -> None:
    """Say what is wrong with the endpoints of an environment; nothing is changed."""
    project = open_project(project_root(Path.cwd()), env, endpoints or ())
    findings = [finding for name in project.endpoints for finding in _missing_repositories(project, name)]
    try:
        resolve_project(project)
    except FindingsError as error:
        findings += error.findings
    if findings:
        raise FindingsError(findings)
    say(f"{env}: no findings in {', '.join(project.endpoints) or 'model_specs/, which holds none'}")


def _missing_repositories(project: Project, endpoint: str) -> list[Finding]:
    try:
        loaded = project.load(endpoint)
    except FindingsError:
        return []  # resolving says what is wrong with the spec itself
    try:
        all_of(range(len(loaded.spec.models)), lambda index: repository_of(loaded, index))
    except FindingsError as error:
        return error.findings
    return []
