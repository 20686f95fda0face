"""Stacks of a fleet folder, as templates."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet_stacks.fleet_app import add_fleet
from tests.support.engine_templates import foundation
from tests.support.fleet_folder import FleetFolder
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project

KEY = "arn:aws:kms:us-east-1:111122223333:key/1234abcd"
Synth = Callable[..., Template]


@pytest.fixture(scope="session")
def plain() -> Template:
    """Foundation of an environment without further keys; no test changes it."""
    return foundation()


@pytest.fixture(scope="session")
def keyed_template() -> Template:
    """Foundation of an environment with a key, which says how long builds may take."""
    return foundation(kms_key=KEY, engine_builds={"timeout": "2h"})


@pytest.fixture
def template(folder: FleetFolder) -> Synth:
    """The template of the folder's endpoint with further keys in its spec; cdk-nag is a gate of every one."""

    def synth(keys: str = "", stack: str = "triton-fleet-dev-sentences") -> Template:
        folder.spec(keys)
        return templates(folder)[stack]

    return synth


def templates(folder: FleetFolder) -> dict[str, Template]:
    app = App()
    add_fleet(app, resolve_project(open_project(folder.root, "dev")))
    assembly = app.synth()
    return {stack.stack_name: Template.from_json(stack.template) for stack in assembly.stacks}
