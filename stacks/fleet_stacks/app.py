"""The CDK app of a fleet: `-c env=NAME` selects an environment, `-c endpoints=a,b` some of its endpoints.

`-c foundation=only` leaves all of them out.
"""

from __future__ import annotations

import gc
import os
from pathlib import Path

from triton_fleet.exits import run_to_exit
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.product.tools import check_node


def run(root: Path) -> None:
    """Synthesise the fleet of a folder and exit, with 1 where its files are wrong.

    Args:
        root: The folder with `model_specs/` and `environments/`.
    """
    run_to_exit(lambda: _checked_synth(root))


def _checked_synth(root: Path) -> None:
    gc.disable()  # a synth ends before any garbage would matter
    check_node(os.environ.get("PATH", os.defpath))
    _synth(root)


def _synth(root: Path) -> None:
    """Resolve the files and declare the stacks; the CDK is imported here, as that starts Node.js at once."""
    # The CDK's files have another path in each run: Node.js would write a cache of them and never read it.
    os.environ.pop("NODE_COMPILE_CACHE", None)
    from aws_cdk import App

    from fleet_stacks.fleet_app import synthesise
    from triton_fleet.endpoint.resolve import resolve_foundation, resolve_project
    from triton_fleet.printers.human import show_findings
    from triton_fleet.project.project import open_project

    app = App()
    for mistaken, key in {"endpoint": "endpoints", "environment": "env"}.items():
        if app.node.try_get_context(mistaken) is not None:
            message = f"`-c {mistaken}=` is not read"
            raise FindingsError([Finding(code="FL122", message=message, hint=f"write `-c {key}=`")])
    env = app.node.try_get_context("env") or ""
    if app.node.try_get_context("foundation") is not None:
        synthesise(app, resolve_foundation(open_project(root, env)))
        return
    selection = app.node.try_get_context("endpoints")
    names = [name.strip() for name in str(selection).split(",") if name.strip()]
    endpoints = () if selection is None else names or [""]
    fleet = resolve_project(open_project(root, env, endpoints))
    if fleet.warnings:
        show_findings(fleet.warnings)
    synthesise(app, fleet)
