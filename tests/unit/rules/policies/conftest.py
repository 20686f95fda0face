"""A fleet that policies are written for."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.policy_fleet import PolicyFleet


@pytest.fixture
def fleet(folder: FleetFolder) -> PolicyFleet:
    return PolicyFleet(folder)
