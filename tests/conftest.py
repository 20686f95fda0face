"""Fixtures of all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet_folder import LOCK, ROOT, FleetFolder


@pytest.fixture
def folder(tmp_path: Path) -> FleetFolder:
    """A fleet without findings."""
    fleet = FleetFolder(tmp_path / "fleet")
    fleet.spec()
    fleet.environment()
    fleet.write("locks/dev/sentences.lock.yaml", LOCK)
    (fleet.root / "repository").mkdir()
    return fleet


@pytest.fixture(scope="session")
def root() -> Path:
    """The clone."""
    return ROOT
