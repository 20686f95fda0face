"""The image of a shared container, from the package's own folder to the endpoint's Model."""

from __future__ import annotations

import json

import pytest

from tests.support.fleet_folder import SPEC
from tests.support.image_fleet import ACCOUNT, ImageFleet

pytestmark = pytest.mark.nightly

SHARED_KEYS = 'mode: shared-container\nimage: {args: {PACKAGES: "pillow==13.0.0"}}\n'


def test_the_modes_own_image_is_built_locked_and_declared(fleet: ImageFleet) -> None:
    fleet.folder.spec(SHARED_KEYS, base=SPEC)
    text = fleet.succeed("images", "build", "--env", "dev")
    assert "sentences: built, triton-fleet-dev@sha256:" in text
    fleet.succeed("lock", "--env", "dev")
    image = fleet.lock["image"]
    assert (image["facts"]["binds_to_port"], image["facts"]["serve"]) == (True, True)
    assert fleet("check", "--env", "dev", "--strict").returncode == 0
    resources = fleet.template()["Resources"]
    (model,) = [resource for resource in resources.values() if resource["Type"] == "AWS::SageMaker::Model"]
    container = model["Properties"]["PrimaryContainer"]
    repository = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com/triton-fleet-dev"
    assert (container["Mode"], container["Image"]) == ("SingleModel", f"{repository}@{image['digest']}")
    routes = json.loads(container["Environment"]["TRITON_FLEET_ROUTES"])
    assert routes["routes"] == {"embed": {"model": "embed", "versions": ["1"]}}
