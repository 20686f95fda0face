"""`fleet deploy`, killed at random moments with the real CDK, each time finished by the next one.

FLEET_KILLS is how many deploys are killed, FLEET_SEED makes the same moments again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.deploy_kills import KilledDeploys
from tests.support.deploys import empty_account
from tests.support.kills import needs_kills

pytestmark = pytest.mark.cdk


@needs_kills
def test_a_deploy_that_was_killed_at_any_moment_is_finished_by_the_next(tmp_path: Path) -> None:
    with empty_account(tmp_path / "fleet") as account:
        deploys = KilledDeploys(account)
        deploys.run()
        print(deploys.tally)
        assert deploys.tally.continuations > 0
