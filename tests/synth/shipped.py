"""The templates of what is shipped, in each environment of an account."""

from __future__ import annotations

import json
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any

from aws_cdk import App

from fleet.resolve.resolve import resolve_fleet
from fleet.spec.environment import LOCAL
from fleet.spec.project import environment_names
from fleet_folder import ROOT
from stacks.fleet_app import add_fleet

ENVIRONMENTS = [name for name in environment_names(ROOT) if name != LOCAL]


@cache
def shipped(environment: str) -> dict[str, Any]:
    """The templates of an environment by stack, with the settings of `cdk.json` as the CDK CLI gives them."""
    with TemporaryDirectory() as folder:
        app = App(outdir=folder, context=json.loads((ROOT / "cdk.json").read_text())["context"])
        add_fleet(app, resolve_fleet(ROOT, environment))
        return {stack.stack_name: stack.template for stack in app.synth().stacks}
