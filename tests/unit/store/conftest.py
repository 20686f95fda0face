"""The spec of a fleet's endpoint, as records of its releases have it, and a fleet with an image of its own."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.image_bases import ImageFleet
from tests.support.recorded_releases import load_spec
from triton_fleet.changes.spec_changes import recorded_spec


@pytest.fixture
def spec(folder: FleetFolder) -> dict[str, Any]:
    return recorded_spec(load_spec(folder), folder.root)


@pytest.fixture
def fleet(folder: FleetFolder) -> ImageFleet:
    return ImageFleet(folder)
