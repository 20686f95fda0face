"""`fleet check`: everything that is known to be wrong, said before anything is deployed."""

from __future__ import annotations

from pathlib import Path

from fleet.cli.arguments import Endpoints, Env
from fleet.cli.say import say
from fleet.project_root import project_root
from fleet.resolve.resolve import resolve_fleet


def check(env: Env, endpoints: Endpoints = None) -> None:
    """Say what is wrong with the endpoints of an environment; nothing is changed."""
    fleet = resolve_fleet(project_root(Path.cwd()), env, endpoints or ())
    say(f"{env}: no findings in {', '.join(endpoint.name for endpoint in fleet.endpoints)}")
