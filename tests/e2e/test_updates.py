"""Each kind of change, performed as a second real `cdk deploy`, and asked back; and a stack that an alarm leaves behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.updated_account import (
    ROLLOUT,
    SCALING,
    STACK,
    Account,
    alarms_in_rollout,
    deployed_account,
    ring,
    update_account,
)

pytestmark = [pytest.mark.cdk, pytest.mark.nightly]


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    with deployed_account(tmp_path_factory.mktemp("updates") / "fleet") as account:
        yield account


@pytest.fixture
def scaled_account(account: Account) -> Account:
    """The same, scaled to three instances."""
    account.deployed_with(scaling=SCALING)
    account.set_instances(3)
    return account


class TestWhatReachesTheRunningEndpoint:
    def test_a_new_artifact(self, account: Account) -> None:
        before = account.deploys.model_data()
        account.deploys.model(f"x = {before!r}\n")
        account.deploys.lock()
        assert account.deploys.fleet("publish", "--env", "dev").returncode == 0
        after = update_account(account, new_model=True)
        assert after.model["PrimaryContainer"]["ModelDataUrl"] != before
        assert account.deploys.host.served[-1].container.model_data_url == account.deploys.model_data()

    def test_a_new_image(self, account: Account) -> None:
        account.change(release="24.09")
        after = update_account(account, new_model=True)
        assert after.model["PrimaryContainer"]["Image"].endswith(":24.09-py3")

    def test_a_new_variable(self, account: Account) -> None:
        account.change(container="{thread_count: 5}")
        after = update_account(account, new_model=True)
        assert after.model["PrimaryContainer"]["Environment"]["SAGEMAKER_TRITON_THREAD_COUNT"] == "5"

    def test_a_new_count(self, account: Account) -> None:
        account.deployed_with(scaling="", count=2)
        account.change(count=4)
        after = update_account(account, new_model=False)
        assert after.live["DesiredInstanceCount"] == 4

    def test_a_new_instance_type(self, account: Account) -> None:
        expected_text = account.other_type()
        account.change(type=expected_text)
        after = update_account(account, new_model=False)
        assert after.variant["InstanceType"] == expected_text

    def test_a_new_weight_capture_setting_and_retention_of_logs_although_live_capacity_is_retained(
        self, scaled_account: Account
    ) -> None:
        scaled_account.change(
            cloudformation="{EndpointConfig: {ProductionVariants.0.InitialVariantWeight: 0.5}}"
        )
        after = update_account(scaled_account, new_model=False)
        assert after.live["DesiredWeight"] == 0.5
        assert scaled_account.retention() == [30, 30]
        scaled_account.change(cloudformation="", capture="{sample: 20%}", logs="{retention_days: 90}")
        after = update_account(scaled_account, new_model=False)
        assert after.endpoint["DataCaptureConfig"]["CurrentSamplingPercentage"] == 20
        assert scaled_account.retention() == [90, 90]
        assert after.live["DesiredInstanceCount"] == 3

    def test_a_new_range_of_instances_in_place(self, scaled_account: Account) -> None:
        before = scaled_account.served()
        after = scaled_account.deployed_with(scaling=SCALING.replace("max: 6", "max: 9"))
        assert after.config_name == before.config_name
        assert scaled_account.scaling()["range"] == [(1, 9)]


def test_what_scaling_has_reached_survives_another_count_and_another_model(scaled_account: Account) -> None:
    count = 3 - scaled_account.served().variant["InitialInstanceCount"] % 2
    scaled_account.change(count=count, container=f"{{thread_count: {10 + count}}}")
    after = update_account(scaled_account, new_model=True)
    assert after.variant["InitialInstanceCount"] == count
    assert after.live["DesiredInstanceCount"] == 3


class TestInstanceTypeOfAScaledVariant:
    def test_it_changes_under_the_variants_name_and_scaling_comes_back_as_it_was(
        self, scaled_account: Account
    ) -> None:
        before, expected_text = scaled_account.scaling(), scaled_account.other_type()
        assert before["policies"].keys() == {"InvocationsPerInstance", "GpuUtilization"}
        assert scaled_account.owns_its_policies()
        scaled_account.change(type=expected_text)
        after = update_account(scaled_account, new_model=False)
        assert (after.variant["VariantName"], after.variant["InstanceType"]) == ("AllTraffic", expected_text)
        assert after.live["DesiredInstanceCount"] == 3
        assert scaled_account.scaling() == before
        assert scaled_account.owns_its_policies()
        assert scaled_account.deploys.keys("scaling-guard/") == []
        for keys in (
            "{min: 1, max: 6, invocations_per_instance: 500, gpu_utilization: 60}",
            "{min: 1, max: 6, gpu_utilization: 60}",
            SCALING,
        ):
            scaled_account.change(scaling=keys)
            scaled_account.serving_state()
            assert scaled_account.owns_its_policies()
        assert scaled_account.scaling() == before

    def test_scaling_comes_back_as_well_when_the_new_instances_do_not_start(
        self, scaled_account: Account
    ) -> None:
        before, scaling, runs = scaled_account.served(), scaled_account.scaling(), scaled_account.type
        scaled_account.change(type=scaled_account.other_type())
        scaled_account.deploys.host.failure = "no capacity"
        result = scaled_account.deploys.fleet("deploy", "--env", "dev", "--locked", "--yes")
        scaled_account.deploys.host.failure = ""
        scaled_account.change(type=runs)
        assert result.returncode == 1
        assert "no capacity" in result.stderr
        assert scaled_account.deploys.statuses()[STACK] == "UPDATE_ROLLBACK_COMPLETE"
        assert scaled_account.served().config_name == before.config_name
        assert scaled_account.scaling() == scaling
        assert scaled_account.deploys.keys("scaling-guard/") == []

    def test_it_may_change_together_with_what_scaling_holds_and_as_scaling_ends(
        self, scaled_account: Account
    ) -> None:
        other_text = "{min: 2, max: 5, invocations_per_instance: 300, concurrent_requests: 4}"
        scaled_account.change(scaling=other_text, type=scaled_account.other_type())
        update_account(scaled_account, new_model=False)
        assert scaled_account.scaling()["range"] == [(2, 5)]
        assert scaled_account.scaling()["policies"].keys() == {"InvocationsPerInstance", "ConcurrentRequests"}
        scaled_account.change(scaling="", type=scaled_account.other_type(), count=4)
        after = update_account(scaled_account, new_model=False)
        assert scaled_account.scaling() == {"range": [], "policies": {}}
        assert after.live["DesiredInstanceCount"] == 4


class TestRollout:
    @pytest.fixture
    def rolled_account(self, account: Account) -> Account:
        """An endpoint with a rollout, whose alarms are of what it runs."""
        account.deployed_with(
            scaling="", count=2, rollout=ROLLOUT, alarms="{latency_p99: 200ms}", container="{thread_count: 6}"
        )
        return account

    def test_it_is_what_sagemaker_was_told_and_its_alarms_watch_the_new_configuration(
        self, rolled_account: Account
    ) -> None:
        served = rolled_account.served()
        policy = served.endpoint["LastDeploymentConfig"]["BlueGreenUpdatePolicy"]
        assert policy["TrafficRoutingConfiguration"]["Type"] == "CANARY"
        assert alarms_in_rollout(rolled_account) == {"sentences", "AllTraffic", served.config_name}

    def test_what_goes_wrong_with_the_old_one_does_not_keep_it(self, rolled_account: Account) -> None:
        ring(rolled_account, but="")
        rolled_account.change(container="{thread_count: 8}")
        after = update_account(rolled_account, new_model=True)
        assert alarms_in_rollout(rolled_account) == {"sentences", "AllTraffic", after.config_name}


class TestWhatUpdateEndpointIsToldBesidesTheConfiguration:
    """SageMaker takes each of these only with another configuration."""

    @pytest.fixture
    def plain(self, account: Account) -> Account:
        keys = {"scaling": "", "rollout": ROLLOUT, "alarms": "{latency_p99: 200ms}", "tags": ""}
        account.deployed_with(count=2, container="{thread_count: 9}", **keys)
        return account

    def test_another_rollout(self, plain: Account) -> None:
        plain.change(rollout="{strategy: linear, step: 50%, bake: 5m}")
        after = update_account(plain, new_model=False)
        policy = after.endpoint["LastDeploymentConfig"]["BlueGreenUpdatePolicy"]
        assert policy["TrafficRoutingConfiguration"]["Type"] == "LINEAR"

    def test_another_alarm_that_calls_back(self, plain: Account) -> None:
        plain.change(alarms="{latency_p99: 200ms, latency_p50: 100ms}")
        after = update_account(plain, new_model=False)
        alarms = after.endpoint["LastDeploymentConfig"]["AutoRollbackConfiguration"]["Alarms"]
        assert len(alarms) == 3

    def test_scaling_alone_on_and_off_again(self, plain: Account) -> None:
        plain.change(scaling=SCALING)
        update_account(plain, new_model=False)
        assert plain.scaling()["range"] == [(1, 6)]
        plain.change(scaling="")
        update_account(plain, new_model=False)
        assert plain.scaling()["range"] == []

    def test_a_threshold_and_a_tag_need_no_other_configuration(self, plain: Account) -> None:
        before = plain.served()
        plain.change(alarms="{latency_p99: 300ms}", tags="{team: search}")
        assert plain.serving_state().config_name == before.config_name


def test_another_interval_of_metrics_is_another_configuration(account: Account) -> None:
    account.deployed_with(scaling="", rollout="", alarms="", tags="", metrics="")
    account.change(metrics="{publish_every: 10s}")
    after = update_account(account, new_model=False)
    assert after.config["MetricsConfig"] == {
        "EnableDetailedObservability": False,
        "EnableEnhancedMetrics": False,
        "MetricPublishFrequencyInSeconds": 10,
    }
    account.change(metrics="")


def test_an_alarm_calls_the_new_one_back_and_the_next_deploy_repairs_the_stack(account: Account) -> None:
    account.deployed_with(scaling=SCALING, rollout=ROLLOUT, alarms="{latency_p99: 200ms}")
    before, scaling, runs = account.served(), account.scaling(), account.type
    removed_number = len(account.deploys.host.removals)
    account.change(type=account.other_type())
    account.deploys.host.serving_hook = lambda: ring(account, but=before.config_name)
    result = account.deploys.fleet("deploy", "--env", "dev", "--locked")
    account.deploys.host.serving_hook = None
    text = " ".join(result.stderr.split())
    assert result.returncode == 1
    assert "The update was rolled back: CloudWatch alarm in ALARM" in text
    assert "rollback_on: []" in text
    assert "continued the rollback of sentences: it serves what it served before the update" in text
    assert account.deploys.statuses()[STACK] == "UPDATE_ROLLBACK_COMPLETE"
    assert (account.served().config_name, account.scaling()) == (before.config_name, scaling)
    # The alarms of the configuration that failed go with it, so that nothing stands in the way any more.
    repair = account.deploys.fleet("deploy", "--env", "dev", "--yes", "sentences")
    assert repair.returncode == 0, repair.stderr
    assert account.deploys.statuses()[STACK] == "UPDATE_COMPLETE"
    after = account.served()
    assert (after.variant["InstanceType"], after.endpoint["EndpointStatus"]) == (account.type, "InService")
    assert account.type != runs
    assert account.scaling() == scaling
    assert account.deploys.keys("scaling-guard/") == []
    assert len(account.deploys.host.removals) == removed_number
    assert account.names()[0] == [after.config_name]
