"""The limits of local endpoints are what environments/local.yaml says now."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.core.formats import format_size
from triton_fleet.local.supervisor import Limits
from triton_fleet.spec.environment import LocalLimits


@pytest.fixture
def local(folder: FleetFolder) -> FleetFolder:
    folder.environment("local: {model_memory: 512MiB}\n", name="local")
    return folder


def test_a_change_of_the_file_holds_from_the_next_look_on(local: FleetFolder) -> None:
    limits = Limits(local.root)
    assert (limits().model_memory, limits().model_disk) == (512 << 20, None)
    local.environment("local: {model_memory: 1GiB, model_disk: 4KiB}\n", name="local")
    assert (limits().model_memory, limits().model_disk) == (1 << 30, 4 << 10)
    local.environment(name="local")
    assert limits() == LocalLimits()


@pytest.mark.parametrize("broken_text", ["local: {model_memory: much}\n", "local: [\n"])
def test_while_the_file_is_wrong_the_last_limits_hold(local: FleetFolder, broken_text: str) -> None:
    limits = Limits(local.root)
    before = limits()
    local.environment(broken_text, name="local")
    assert limits() == before
    (local.root / "environments/local.yaml").unlink()
    assert limits() == before


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (512 << 20, "512.0 MiB"), (5 << 40, "5120.0 GiB")],
)
def test_sizes_are_shown_in_the_units_of_the_file(size: int, text: str) -> None:
    assert format_size(size) == text
