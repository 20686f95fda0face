"""`fleet check`: everything that is known to be wrong, said before anything is deployed."""

from __future__ import annotations

from pathlib import Path

from fleet.artifacts.checked import all_findings
from fleet.cli.arguments import Endpoints, Env
from fleet.cli.say import say
from fleet.findings import FindingsError
from fleet.project_root import project_root
from fleet.spec.project import open_project


def check(env: Env, endpoints: Endpoints = None) -> None:
    """Say what is wrong with the endpoints of an environment; nothing is changed."""
    project = open_project(project_root(Path.cwd()), env, endpoints or ())
    findings = all_findings(project)
    if findings:
        raise FindingsError(findings)
    say(f"{env}: no findings in {', '.join(project.endpoints) or 'model_specs/, which holds none'}")
