"""`fleet lock`: what an environment will run, written down for review."""

from __future__ import annotations

from pathlib import Path

from fleet.artifacts.lock import write_locks
from fleet.cli.arguments import Endpoints, Env
from fleet.cli.say import say
from fleet.project_root import project_root
from fleet.spec.project import open_project


def lock(env: Env, endpoints: Endpoints = None) -> None:
    """Write digests and sizes of the endpoints' archives to locks/ENV/; needs no network."""
    root = project_root(Path.cwd())
    changed = write_locks(open_project(root, env, endpoints or ()))
    for file in changed:
        say(f"wrote {file.relative_to(root)}")
    if not changed:
        say("the locks are up to date")
