"""`fleet deploy` and `fleet destroy` in short: killed and run again, a stale lock, an end; the night has more."""

from __future__ import annotations

import pytest

from tests.support.deploy_interruptions import (
    COMPLETE,
    ENDPOINT,
    INTERRUPTIONS,
    assert_empty_account,
    interrupt,
)
from tests.support.deploys import Deploys

pytestmark = pytest.mark.cdk


def test_a_deploy_that_was_killed_goes_on_when_it_is_run_again(empty_fleet: Deploys) -> None:
    interrupt(empty_fleet, INTERRUPTIONS[3:4])
    assert f"✓ cdk deploy {ENDPOINT}: nothing to do" in empty_fleet.deploy()
    assert_empty_account(empty_fleet)


def test_a_changed_model_needs_a_new_lock(empty_fleet: Deploys) -> None:
    empty_fleet.model("x = 2\n")
    refused_process = empty_fleet.fleet("deploy", "--env", "dev")
    assert refused_process.returncode == 1
    assert "repository/embed/1/model.py: error[stale-lock] FL306: the file changed" in refused_process.stderr


def test_a_destroyed_endpoint_leaves_its_archives(empty_fleet: Deploys) -> None:
    archives = empty_fleet.keys("")
    assert empty_fleet.fleet("destroy", "sentences", "--env", "dev", "--yes").returncode == 0
    assert empty_fleet.statuses() == {name: status for name, status in COMPLETE.items() if name != ENDPOINT}
    assert empty_fleet.keys("") == archives
