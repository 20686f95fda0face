"""`fleet deploy` and `fleet destroy` in short: killed and run again, a stale lock, an end; the night has more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.deploy_interruptions import (
    COMPLETE,
    ENDPOINT,
    INTERRUPTIONS,
    assert_nothing_is_left,
    interrupt,
)
from tests.support.deploys import Deploys, empty_account

pytestmark = pytest.mark.cdk


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deploys]:
    with empty_account(tmp_path_factory.mktemp("deploy") / "fleet") as account:
        yield account


def test_a_deploy_that_was_killed_goes_on_when_it_is_run_again(account: Deploys) -> None:
    interrupt(account, INTERRUPTIONS[3:4])
    assert f"✓ cdk deploy {ENDPOINT}: nothing to do" in account.deploy()
    assert_nothing_is_left(account)


def test_a_changed_model_needs_a_new_lock(account: Deploys) -> None:
    account.model("x = 2\n")
    refused = account.fleet("deploy", "--env", "dev")
    assert refused.returncode == 1
    assert "repository/embed/1/model.py: error[stale-lock] FL306: the file changed" in refused.stderr


def test_a_destroyed_endpoint_leaves_its_archives(account: Deploys) -> None:
    archives = account.keys("")
    assert account.fleet("destroy", "sentences", "--env", "dev", "--yes").returncode == 0
    assert account.statuses() == {name: status for name, status in COMPLETE.items() if name != ENDPOINT}
    assert account.keys("") == archives
