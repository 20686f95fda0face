"""What each shipped spec becomes in each environment of an account, as files that a reviewer reads in a diff.

A change that is meant is written by `pytest -n0 tests/synth/test_snapshots.py --snapshot-update`, which also
deletes the files of stacks that are no more; a file that no stack uses fails the run. Hashes are left out: of
Lambda code, and of archives, which the locks show. The body of a dashboard is shown as the JSON that it holds.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.support.fleet_folder import ROOT
from tests.synth.resources import joined
from tests.synth.shipped_specs import ENVIRONMENTS, shipped
from triton_fleet.project.spec_files import spec_files

STACKS = [
    pytest.param(environment, stack, id=stack)
    for environment in ENVIRONMENTS
    for foundation in [f"triton-fleet-{environment}"]
    for stack in [foundation, *(f"{foundation}-{name}" for name in spec_files(ROOT).by_endpoint)]
]
HASH = re.compile(r"\b[0-9a-f]{64}\b")


@pytest.mark.parametrize(("environment", "stack"), STACKS)
def test_the_template_is_as_reviewed(environment: str, stack: str, snapshot: SnapshotAssertion) -> None:
    reviewed = snapshot.use_extension(JSONSnapshotExtension)
    assert readable(shipped(environment)[stack]) == reviewed


def test_every_stack_has_a_snapshot_of_its_own() -> None:
    for environment in ENVIRONMENTS:
        shown = {stack for of, stack in (param.values for param in STACKS) if of == environment}
        assert shown == set(shipped(environment))


def test_a_snapshot_tells_everything_but_hashes() -> None:
    body = {"Fn::Join": ["", ['{"widgets":[{"title":"', {"Fn::GetAtt": ["Endpoint", "Name"]}, '"}]}']]}
    made = {"Code": {"S3Key": f"{'a1' * 32}.zip"}, "Size": 0, "DashboardBody": body}
    assert readable(made) == {
        "Code": {"S3Key": "HASH.zip"},
        "Size": 0,
        "DashboardBody": {"widgets": [{"title": "${Endpoint.Name}"}]},
    }


def readable(value: Any) -> Any:
    """A template without hashes, and with the bodies of dashboards as JSON."""
    match value:
        case {"DashboardBody": body, **others}:
            return {"DashboardBody": readable(json.loads(joined(body))), **readable(others)}
        case dict():
            return {readable(key): readable(inner) for key, inner in value.items()}
        case list():
            return [readable(inner) for inner in value]
        case str():
            return HASH.sub("HASH", value)
    return value
