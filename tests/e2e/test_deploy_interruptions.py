"""`fleet deploy` to an empty account, interrupted at each of its steps and run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploys import empty_account
from tests.e2e.test_deploy import INTERRUPTIONS, assert_nothing_is_left, interrupt

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]


def test_a_deploy_that_is_interrupted_at_each_step_goes_on_when_it_is_run_again(tmp_path: Path) -> None:
    with empty_account(tmp_path / "fleet") as account:
        interrupt(account, INTERRUPTIONS)
        account.deploy()
        assert_nothing_is_left(account)
