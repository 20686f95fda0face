"""The endpoint `sentences` in an account, deployed again and again as its spec changes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.deploys import Deploys, empty_account
from tests.support.endpoint_capacity import set_variant
from tests.support.fleet_folder import SPEC

STACK = "triton-fleet-dev-sentences"
SCALING = "{min: 1, max: 6, invocations_per_instance: 600, gpu_utilization: 60}"
TARGET = {"ServiceNamespace": "sagemaker", "ResourceId": "endpoint/sentences/variant/AllTraffic"}
ROLLOUT = "{strategy: canary, canary: 50%, bake: 5m}"


@dataclass(frozen=True, kw_only=True)
class ServedState:
    """The account's description of the endpoint."""

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
    """The endpoint `sentences`, deployed again and again by the CDK CLI, as each test changes its spec."""

    def __init__(self, deploys: Deploys) -> None:
        self.deploys = deploys
        self.sagemaker = deploys.client("sagemaker")
        self.autoscaling = deploys.client("application-autoscaling")
        self._release, self.type, self._count = "25.04", "ml.g5.xlarge", 2
        self._keys: dict[str, str] = {}
        self._previous_answer = ""

    def change(self, *, release: str = "", type: str = "", count: int = 0, **keys: str) -> None:
        """Change these of the spec; an empty key is left out."""
        self._release, self.type = release or self._release, type or self.type
        self._count = count or self._count
        self._keys |= keys
        base = SPEC.replace("25.04", self._release)
        base = base.replace("ml.g5.xlarge}", f"{self.type}, count: {self._count}}}")
        lines = [f"{key}: {value}\n" for key, value in self._keys.items() if value]
        self.deploys.folder.spec("".join(lines), base=base)

    def deployed_with(self, **changes: Any) -> ServedState:
        """The deployment that a test begins with; nothing is deployed where that is there already."""
        self.change(**changes)
        return self.served() if self._answer_text() == self._previous_answer else self.serving_state()

    def other_type(self) -> str:
        """An instance type that it does not run on."""
        return "ml.g5.2xlarge" if self.type == "ml.g5.xlarge" else "ml.g5.xlarge"

    def served(self) -> ServedState:
        endpoint = self.sagemaker.describe_endpoint(EndpointName="sentences")
        config = self.sagemaker.describe_endpoint_config(EndpointConfigName=endpoint["EndpointConfigName"])
        model = self.sagemaker.describe_model(ModelName=config["ProductionVariants"][0]["ModelName"])
        return ServedState(endpoint=endpoint, config=config, model=model)

    def serving_state(self) -> ServedState:
        self._previous_answer = ""
        self.deploys.deploy_stack(STACK)
        self._previous_answer = self._answer_text()
        return self.served()

    def _answer_text(self) -> str:
        return (self.deploys.folder.root / "model_specs/sentences.yaml").read_text()

    def set_instances(self, count: int) -> None:
        """As scaling does it."""
        set_variant(self.sagemaker, "sentences", DesiredInstanceCount=count)

    def names(self) -> tuple[list[str], list[str]]:
        """All endpoint configurations and all models of the account."""
        configs = self.sagemaker.list_endpoint_configs()["EndpointConfigs"]
        models = self.sagemaker.list_models()["Models"]
        return [config["EndpointConfigName"] for config in configs], [model["ModelName"] for model in models]

    def retention(self) -> list[int]:
        """In days, of the endpoint's log groups."""
        groups = self.deploys.client("logs").describe_log_groups()["logGroups"]
        return [group["retentionInDays"] for group in groups if "/sentences" in group["logGroupName"]]

    def scaling(self) -> dict[str, Any]:
        """All of the variant's scaling, policies by their measures, without what AWS makes of it."""
        targets = self.autoscaling.describe_scalable_targets(ServiceNamespace="sagemaker")["ScalableTargets"]
        policies = self.autoscaling.describe_scaling_policies(**TARGET)["ScalingPolicies"]
        return {
            "range": [(target["MinCapacity"], target["MaxCapacity"]) for target in targets],
            "policies": {
                policy["PolicyName"].partition("-")[0]: policy["TargetTrackingScalingPolicyConfiguration"]
                for policy in policies
            },
        }

    def owns_its_policies(self) -> bool:
        """Whether CloudFormation knows the policies that scale the endpoint, and no others."""
        cloudformation = self.deploys.client("cloudformation")
        resources = cloudformation.describe_stack_resources(StackName=STACK)["StackResources"]
        known_resource_ids = {
            resource["PhysicalResourceId"]
            for resource in resources
            if resource["ResourceType"].endswith("ScalingPolicy")
        }
        policies = self.autoscaling.describe_scaling_policies(**TARGET)["ScalingPolicies"]
        return known_resource_ids == {policy["PolicyARN"] for policy in policies}


@contextmanager
def deployed_account(root: Path) -> Iterator[Account]:
    """An endpoint that is deployed, unscaled."""
    with empty_account(root) as deploys:
        account = Account(deploys)
        account.change()
        deploys.lock()
        deploys.deploy()
        yield account


def update_account(account: Account, *, new_model: bool) -> ServedState:
    """Deploy, and see that exactly what AWS cannot change in place was replaced."""
    before = account.served()
    after = account.serving_state()
    assert after.endpoint["CreationTime"] == before.endpoint["CreationTime"]
    assert after.endpoint["EndpointArn"] == before.endpoint["EndpointArn"]
    assert after.endpoint["EndpointStatus"] == "InService"
    assert after.config_name != before.config_name
    assert (after.model["ModelName"] != before.model["ModelName"]) is new_model
    assert account.names() == ([after.config_name], [after.model["ModelName"]])
    return after


def alarms_in_rollout(account: Account) -> set[str]:
    """The values of all dimensions of all alarms."""
    alarms = account.deploys.client("cloudwatch").describe_alarms()["MetricAlarms"]
    return {dimension["Value"] for alarm in alarms for dimension in alarm["Dimensions"]}


def ring(account: Account, *, but: str) -> None:
    """Let all alarms ring, but those of one configuration."""
    cloudwatch = account.deploys.client("cloudwatch")
    for alarm in cloudwatch.describe_alarms()["MetricAlarms"]:
        if but not in [dimension["Value"] for dimension in alarm["Dimensions"]]:
            cloudwatch.set_alarm_state(AlarmName=alarm["AlarmName"], StateValue="ALARM", StateReason="5xx")
