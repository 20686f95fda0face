"""`termination_protection` with the real CDK: switched on and off by a deploy that changes no template."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.deploys import Deploys, empty_account

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]

STACK = "triton-fleet-dev-sentences"
KEY = "termination_protection: true\n"


def is_protected(account: Deploys) -> bool:
    (stack,) = account.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
    return bool(stack["EnableTerminationProtection"])


def test_a_deploy_switches_the_protection_and_destroy_refuses_until_it_is_off(tmp_path: Path) -> None:
    with empty_account(tmp_path / "fleet") as account:
        account.deploy()
        assert not is_protected(account)
        file = account.folder.root / "environments/dev.yaml"
        before = file.read_text()
        file.write_text(before + KEY)
        assert f"✓ cdk deploy {STACK}: nothing to do, termination protection on" in account.deploy()
        assert is_protected(account)
        refused_process = account.fleet("destroy", "sentences", "--env", "dev", "--yes")
        assert (refused_process.returncode, "FL534" in refused_process.stderr) == (1, True)
        assert account.statuses()[STACK] == "CREATE_COMPLETE"
        file.write_text(before)
        assert f"✓ cdk deploy {STACK}: nothing to do, termination protection off" in account.deploy()
        assert account.fleet("destroy", "sentences", "--env", "dev", "--yes").returncode == 0
        assert STACK not in account.statuses()
