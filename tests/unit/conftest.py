"""A fleet that gets a new spec, and what refuses servers: a test that starts one is of tests/integration."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.hostile_git import Marks, marks
from tests.support.new_fleet import init
from tests.support.new_specs import PROD, NewSpecs


@pytest.fixture(autouse=True, scope="module")
def without_servers() -> Iterator[None]:
    """A test whose process listens fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "listen", _refuse)
        yield


def _refuse(server: socket.socket, *_: object) -> NoReturn:
    pytest.fail(f"a unit test listens at {server.getsockname()}: move it to tests/integration")


@pytest.fixture
def new(folder: FleetFolder) -> NewSpecs:
    """No model is there."""
    folder.write("environments/prod.yaml", PROD)
    return NewSpecs(folder)


@pytest.fixture
def marks_folder(tmp_path: Path) -> Marks:
    """Programs that leave a mark where they run."""
    (tmp_path / "marks").mkdir()
    return marks(tmp_path / "marks")


@pytest.fixture
def initial_fleet(tmp_path: Path) -> Path:
    """A new fleet without an example."""
    assert init(tmp_path / "fleet", "--account", "123456789012", "--example", "none").exit_code == 0
    return tmp_path / "fleet"
