"""A fleet with the environments that workflows deploy to."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.workflow_files import write_environments


@pytest.fixture
def fleet(folder: FleetFolder) -> FleetFolder:
    write_environments(folder)
    return folder
