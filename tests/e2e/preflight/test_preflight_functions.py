"""`fleet preflight`: whether Lambda runs as many functions at once as stacks side by side need."""

from __future__ import annotations

import pytest

from tests.support.fleet_folder import LOCK, SPEC
from tests.support.prepared_account import PreparedAccount


def further_endpoints(account: PreparedAccount, count: int) -> None:
    for number in range(count):
        name = f"other{number}"
        account.folder.write(f"model_specs/{name}.yaml", SPEC.replace("sentences", name))
        account.folder.write(f"locks/dev/{name}.lock.yaml", LOCK.replace("sentences", name))


def test_one_endpoint_asks_lambda_nothing(account: PreparedAccount) -> None:
    account.concurrent_executions(1)
    report = account.preflight("sentences")
    assert report.of("functions") == []


@pytest.mark.parametrize(("count", "stacks"), [(2, 2), (3, 3), (4, 4), (7, 4)])
def test_a_usual_account_has_enough_for_all_stacks_at_once(
    account: PreparedAccount, count: int, stacks: int
) -> None:
    further_endpoints(account, count - 1)
    needed_text = f"{stacks} stacks at once need about {4 * stacks}"
    assert account.preflight().of("functions") == [f"✓ 1000 concurrent executions of Lambda; {needed_text}"]


@pytest.mark.parametrize(("free", "concurrency"), [(15, 3), (10, 2), (7, 1), (3, 1), (0, 1)])
def test_a_new_account_has_fewer_and_the_concurrency_that_fits_is_named(
    account: PreparedAccount, free: int, concurrency: int
) -> None:
    further_endpoints(account, 3)
    account.concurrent_executions(free)
    report = account.preflight()
    needed_text = f"{free} concurrent executions of Lambda; 4 stacks at once need about 16"
    assert report.of("functions") == [f"! {needed_text}"]
    text = "environments/dev.yaml:2:1: warning[few-concurrent-executions] FL638"
    assert f"{text}: {needed_text}" in report.findings
    assert f"`fleet deploy --env dev --concurrency {concurrency}`" in report.findings
    assert "--service-code lambda --quota-code L-B99A9384" in report.findings


def test_without_the_permission_it_is_named(account: PreparedAccount) -> None:
    further_endpoints(account, 1)
    account.proxy.deny(lambda request: request.path.startswith("/2016-08-19/account-settings"))
    report = account.preflight()
    assert report.of("functions") == ["! not checked: no permission for lambda:GetAccountSettings"]
