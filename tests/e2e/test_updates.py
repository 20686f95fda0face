"""Each kind of change, performed as a second real `cdk deploy`, and asked back from the account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from deploys import Deploys, empty_account
from fleet_folder import SPEC

pytestmark = pytest.mark.cdk

STACK = "triton-fleet-dev-sentences"
SCALING = "scaling: {min: 1, max: 6, invocations_per_instance: 600, gpu_utilization: 60}\n"
TARGET = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/sentences/variant/AllTraffic"}
CAPTURE = (
    "cloudformation: {EndpointConfig: {DataCaptureConfig: {InitialSamplingPercentage: 20, "
    "DestinationS3Uri: s3://captured/, CaptureOptions: [{CaptureMode: Input}]}}}\n"
)


@dataclass(frozen=True, kw_only=True)
class Served:
    """What the account says of the endpoint."""

    endpoint: dict[str, Any]
    config: dict[str, Any]
    model: dict[str, Any]

    @property
    def config_name(self) -> str:
        return str(self.config["EndpointConfigName"])

    @property
    def variant(self) -> dict[str, Any]:
        (variant,) = self.config["ProductionVariants"]
        return dict(variant)

    @property
    def live(self) -> dict[str, Any]:
        (variant,) = self.endpoint["ProductionVariants"]
        return dict(variant)


class Account:
    """The endpoint `sentences`, deployed again and again by the CDK CLI, as its spec is changed."""

    def __init__(self, deploys: Deploys) -> None:
        self.deploys = deploys
        self.sagemaker = deploys.client("sagemaker")
        self.autoscaling = deploys.client("application-autoscaling")

    def spec(self, keys: str = "", *, base: str = SPEC) -> None:
        self.deploys.folder.spec(keys, base=base)

    def served(self) -> Served:
        endpoint = self.sagemaker.describe_endpoint(EndpointName="sentences")
        config = self.sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
        model = self.sagemaker.describe_model(ModelName=config["ProductionVariants"][0]["ModelName"])
        return Served(endpoint=endpoint, config=config, model=model)

    def deployed(self) -> Served:
        self.deploys.deploy("--locked")
        return self.served()

    def set_instances(self, count: int) -> None:
        """As scaling does it."""
        wanted = [{"VariantName": "AllTraffic", "DesiredInstanceCount": count}]
        self.sagemaker.update_endpoint_weights_and_capacities(
            EndpointName="sentences", DesiredWeightsAndCapacities=wanted
        )

    def names(self) -> tuple[list[str], list[str]]:
        """All endpoint configurations and all models of the account."""
        configs = self.sagemaker.list_endpoint_configs()["EndpointConfigs"]
        models = self.sagemaker.list_models()["Models"]
        return [each["EndpointConfigName"] for each in configs], [each["ModelName"] for each in models]

    def scaling(self) -> dict[str, Any]:
        """All of the variant's scaling, without what AWS makes of it."""
        targets = self.autoscaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
        policies = self.autoscaling.describe_scaling_policies(**TARGET)["ScalingPolicies"]
        return {
            "range": [(each["MinCapacity"], each["MaxCapacity"]) for each in targets],
            "policies": {
                each["PolicyName"]: each["TargetTrackingScalingPolicyConfiguration"] for each in policies
            },
        }


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """An endpoint that is deployed and scaled to three instances."""
    with empty_account(tmp_path_factory.mktemp("updates") / "fleet") as deploys:
        account = Account(deploys)
        account.spec(SCALING)
        deploys.lock()
        deploys.deploy()
        account.set_instances(3)
        yield account


def updated(account: Account, *, new_model: bool) -> Served:
    """Deploy, and see that exactly what AWS cannot change in place was replaced."""
    before = account.served()
    after = account.deployed()
    assert after.endpoint["CreationTime"] == before.endpoint["CreationTime"]
    assert after.endpoint["EndpointArn"] == before.endpoint["EndpointArn"]
    assert after.endpoint["EndpointStatus"] == "InService"
    assert after.config_name != before.config_name
    assert (after.model["ModelName"] != before.model["ModelName"]) is new_model
    assert account.names() == ([after.config_name], [after.model["ModelName"]])
    return after


class TestWhatReachesTheRunningEndpoint:
    def test_a_new_artifact(self, account: Account) -> None:
        before = account.deploys.model_data()
        account.deploys.model("x = 2\n")
        account.deploys.lock()
        after = updated(account, new_model=True)
        assert after.model["PrimaryContainer"]["ModelDataUrl"] != before
        assert account.deploys.host.served[-1].container.model_data_url == account.deploys.model_data()

    def test_a_new_image(self, account: Account) -> None:
        account.spec(SCALING, base=SPEC.replace("25.04", "24.09"))
        after = updated(account, new_model=True)
        assert after.model["PrimaryContainer"]["Image"].endswith(":24.09-py3")

    def test_a_new_variable(self, account: Account) -> None:
        account.spec(SCALING + "container: {thread_count: 5}\n")
        after = updated(account, new_model=True)
        assert after.model["PrimaryContainer"]["Environment"]["SAGEMAKER_TRITON_THREAD_COUNT"] == "5"

    def test_a_new_weight_although_live_capacity_is_retained(self, account: Account) -> None:
        raw = "cloudformation: {EndpointConfig: {ProductionVariants.0.InitialVariantWeight: 0.5}}\n"
        account.spec(SCALING + "container: {thread_count: 5}\n" + raw)
        after = updated(account, new_model=False)
        assert after.live["DesiredWeight"] == 0.5

    def test_a_new_capture_setting_although_live_capacity_is_retained(self, account: Account) -> None:
        account.spec(SCALING + "container: {thread_count: 5}\n" + CAPTURE)
        after = updated(account, new_model=False)
        assert after.endpoint["DataCaptureConfig"]["CurrentSamplingPercentage"] == 20

    def test_a_new_range_of_instances_in_place(self, account: Account) -> None:
        before = account.served()
        account.spec(SCALING.replace("max: 6", "max: 9") + "container: {thread_count: 5}\n" + CAPTURE)
        after = account.deployed()
        assert after.config_name == before.config_name
        assert account.scaling()["range"] == [(1, 9)]


class TestLiveCapacity:
    def test_what_scaling_has_reached_survives_every_update(self, account: Account) -> None:
        account.spec(SCALING, base=SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 2}"))
        after = updated(account, new_model=True)
        assert after.variant["InitialInstanceCount"] == 2
        assert after.live["DesiredInstanceCount"] == 3


class TestInstanceTypeOfAScaledVariant:
    def test_it_changes_under_the_variants_name_and_scaling_comes_back_as_it_was(
        self, account: Account
    ) -> None:
        before = account.scaling()
        assert before["policies"].keys() == {"InvocationsPerInstance", "GpuUtilization"}
        account.spec(SCALING, base=SPEC.replace("ml.g5.xlarge", "ml.g5.2xlarge"))
        after = updated(account, new_model=False)
        assert (after.variant["VariantName"], after.variant["InstanceType"]) == (
            "AllTraffic",
            "ml.g5.2xlarge",
        )
        assert after.live["DesiredInstanceCount"] == 3
        assert account.scaling() == before
        assert account.deploys.keys("scaling-guard/") == []

    def test_scaling_comes_back_as_well_when_the_new_instances_do_not_start(self, account: Account) -> None:
        before, scaling = account.served(), account.scaling()
        account.spec(SCALING, base=SPEC.replace("ml.g5.xlarge", "ml.g5.4xlarge"))
        account.deploys.host.failure = "no capacity"
        done = account.deploys.fleet("deploy", "--env", "dev", "--locked")
        account.deploys.host.failure = ""
        assert done.returncode == 1
        assert "no capacity" in done.stderr
        assert account.deploys.statuses()[STACK] == "UPDATE_ROLLBACK_COMPLETE"
        assert account.served().config_name == before.config_name
        assert account.scaling() == scaling
        assert account.deploys.keys("scaling-guard/") == []

    def test_it_may_change_together_with_what_scaling_holds(self, account: Account) -> None:
        other = "scaling: {min: 2, max: 5, invocations_per_instance: 300, concurrent_requests: 4}\n"
        account.spec(other, base=SPEC.replace("ml.g5.xlarge}", "ml.g5.4xlarge, count: 2}"))
        updated(account, new_model=False)
        assert account.scaling()["range"] == [(2, 5)]
        assert account.scaling()["policies"].keys() == {"InvocationsPerInstance", "ConcurrentRequests"}

    def test_it_may_change_as_scaling_ends(self, account: Account) -> None:
        account.spec(base=SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 4}"))
        after = updated(account, new_model=False)
        assert account.scaling() == {"range": [], "policies": {}}
        assert after.live["DesiredInstanceCount"] == 4


class TestRollout:
    def test_it_is_what_sagemaker_was_told(self, account: Account) -> None:
        account.spec(
            "rollout: {strategy: canary, canary: 50%, bake: 5m}\nalarms: {latency_p99: 200ms}\n",
            base=SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 2}"),
        )
        after = updated(account, new_model=False)
        assert after.live["DesiredInstanceCount"] == 2
        policy = after.endpoint["LastDeploymentConfig"]["BlueGreenUpdatePolicy"]
        assert policy["TrafficRoutingConfiguration"]["Type"] == "CANARY"
        alarms = account.deploys.client("cloudwatch").describe_alarms()["MetricAlarms"]
        watched = {dimension["Value"] for alarm in alarms for dimension in alarm["Dimensions"]}
        assert watched == {"sentences", "AllTraffic", after.config_name}

    def test_an_alarm_calls_it_back_and_the_stack_with_it(self, account: Account) -> None:
        before = account.served()
        cloudwatch = account.deploys.client("cloudwatch")
        name = cloudwatch.describe_alarms()["MetricAlarms"][0]["AlarmName"]
        cloudwatch.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="5xx")
        account.deploys.folder.spec(
            "rollout: {strategy: canary, canary: 50%, bake: 5m}\nalarms: {latency_p99: 200ms}\n"
            "container: {thread_count: 7}\n",
            base=SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 2}"),
        )
        done = account.deploys.fleet("deploy", "--env", "dev", "--locked")
        assert done.returncode == 1
        assert name in done.stderr
        assert account.deploys.statuses()[STACK] == "UPDATE_ROLLBACK_COMPLETE"
        assert account.served().config_name == before.config_name
