"""A fleet that policies are written for."""

from __future__ import annotations

import pytest

from fleet_folder import FleetFolder
from policy_fleet import PolicyFleet


@pytest.fixture
def fleet(folder: FleetFolder) -> PolicyFleet:
    return PolicyFleet(folder)
