"""Updates that SageMaker takes only with another configuration, and a stack that it leaves behind."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from updated_account import ROLLOUT, SCALING, STACK, Account, deployed_account, ring, updated

pytestmark = pytest.mark.cdk


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with deployed_account(tmp_path_factory.mktemp("configurations") / "fleet") as account:
        yield account


class TestWhatUpdateEndpointIsToldBesidesTheConfiguration:
    """SageMaker takes each of these only with another configuration."""

    @pytest.fixture
    def plain(self, account: Account) -> Account:
        keys = {"scaling": "", "rollout": ROLLOUT, "alarms": "{latency_p99: 200ms}", "tags": ""}
        account.deployed_with(count=2, container="{thread_count: 9}", **keys)
        return account

    def test_another_rollout(self, plain: Account) -> None:
        plain.change(rollout="{strategy: linear, step: 50%, bake: 5m}")
        after = updated(plain, new_model=False)
        policy = after.endpoint["LastDeploymentConfig"]["BlueGreenUpdatePolicy"]
        assert policy["TrafficRoutingConfiguration"]["Type"] == "LINEAR"

    def test_another_alarm_that_calls_back(self, plain: Account) -> None:
        plain.change(alarms="{latency_p99: 200ms, latency_p50: 100ms}")
        after = updated(plain, new_model=False)
        alarms = after.endpoint["LastDeploymentConfig"]["AutoRollbackConfiguration"]["Alarms"]
        assert len(alarms) == 3

    def test_scaling_alone_on_and_off_again(self, plain: Account) -> None:
        plain.change(scaling=SCALING)
        updated(plain, new_model=False)
        assert plain.scaling()["range"] == [(1, 6)]
        plain.change(scaling="")
        updated(plain, new_model=False)
        assert plain.scaling()["range"] == []

    def test_a_threshold_and_a_tag_need_no_other_configuration(self, plain: Account) -> None:
        before = plain.served()
        plain.change(alarms="{latency_p99: 300ms}", tags="{team: search}")
        assert plain.deployed().config_name == before.config_name


def test_another_interval_of_metrics_is_another_configuration(account: Account) -> None:
    account.deployed_with(scaling="", rollout="", alarms="", tags="", metrics="")
    account.change(metrics="{publish_every: 10s}")
    after = updated(account, new_model=False)
    assert after.config["MetricsConfig"] == {
        "EnableDetailedObservability": False,
        "EnableEnhancedMetrics": False,
        "MetricPublishFrequencyInSeconds": 10,
    }
    account.change(metrics="")


def test_an_alarm_calls_the_new_one_back_and_the_next_deploy_repairs_the_stack(account: Account) -> None:
    account.deployed_with(scaling=SCALING, rollout=ROLLOUT, alarms="{latency_p99: 200ms}")
    before, scaling, runs = account.served(), account.scaling(), account.type
    removed = len(account.deploys.host.removed)
    account.change(type=account.other_type())
    account.deploys.host.while_serving = lambda: ring(account, but=before.config_name)
    done = account.deploys.fleet("deploy", "--env", "dev", "--locked")
    account.deploys.host.while_serving = None
    said = " ".join(done.stderr.split())
    assert done.returncode == 1
    assert "The update was rolled back: CloudWatch alarm in ALARM" in said
    assert "rollback_on: []" in said
    assert f"configuration {before.config_name}, the one from before the update" in said
    assert "it may not scale until the rollback is continued" in said
    (failed,) = re.findall(rf"--stack-name {STACK} --resources-to-skip (\w+)`", said)
    assert failed.startswith("Endpoint")
    assert account.deploys.statuses()[STACK] == "UPDATE_ROLLBACK_FAILED"
    assert account.scaling() == {"range": [], "policies": {}}
    again = account.deploys.fleet("deploy", "--env", "dev", "--locked")
    assert (again.returncode, account.served().config_name) == (2, before.config_name)
    # The alarms of the configuration that failed go with it, so that nothing stands in the way any more.
    repaired = account.deploys.fleet("deploy", "--env", "dev", "--yes", "sentences")
    assert repaired.returncode == 0, repaired.stderr
    assert account.deploys.statuses()[STACK] == "UPDATE_COMPLETE"
    after = account.served()
    assert (after.variant["InstanceType"], after.endpoint["EndpointStatus"]) == (account.type, "InService")
    assert account.type != runs
    assert account.scaling() == scaling
    assert account.deploys.keys("scaling-guard/") == []
    assert len(account.deploys.host.removed) == removed
    assert account.names()[0] == [after.config_name]
