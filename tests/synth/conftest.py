"""Stacks of a fleet folder, as templates."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet_stacks.fleet_app import add_fleet
from tests.support.fleet_folder import FleetFolder
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project

Synth = Callable[..., Template]


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
