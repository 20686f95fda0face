"""The templates of what is shipped, in each environment of an account."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aws_cdk import App
from aws_cdk.cx_api import CloudAssembly

from fleet_stacks.fleet_app import add_fleet
from tests.support.fleet_folder import ROOT
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.fleet_files import environment_names
from triton_fleet.project.project import open_project
from triton_fleet.spec.environment import LOCAL

HASH = re.compile(r"\b[0-9a-f]{64}\b")
"""The digest of an asset or of an archive: it follows from files, which a review sees as such."""
ENVIRONMENTS = [name for name in environment_names(ROOT) if name != LOCAL]


@cache
def shipped_spec(environment: str) -> dict[str, Any]:
    """The templates of an environment by stack."""
    return deployed_spec(ROOT, environment)


def deployed_spec(root: Path, environment: str) -> dict[str, Any]:
    """The templates of a fleet folder by stack."""
    with TemporaryDirectory() as folder:
        return {stack.stack_name: stack.template for stack in assembly(root, environment, folder).stacks}


def assembly(root: Path, environment: str, folder: str) -> CloudAssembly:
    """Templates that synth writes for a fleet folder, with the settings of `cdk.json` as the CDK CLI gives them."""
    app = App(outdir=folder, context=json.loads((ROOT / "cdk.json").read_text())["context"])
    add_fleet(app, resolve_project(open_project(root, environment)))
    return app.synth()
