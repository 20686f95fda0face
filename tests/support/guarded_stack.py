"""Stacks of one scaled endpoint around the scaling guard, in the embedded CloudFormation."""

from __future__ import annotations

from typing import Any

from fleet_emulator.server import EmbeddedAws
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.functions import BUCKET, archive, function, upload, waiting_provider
from tests.support.embedded_app.scaling import target
from tests.support.embedded_app.stacks import Stacks, endpoint
from tests.support.fleet_folder import ROOT
from triton_endpoints.scaling_guard import SECONDS_TO_WAIT

GUARD = "scaling-guard"
TOKEN = f"arn:aws:lambda:us-east-1:123456789012:function:{GUARD}"
Resources = dict[str, Any]


def deploy_guard(aws: EmbeddedAws) -> None:
    """Deploy the guard's functions, as Foundation has them."""
    sources = {
        f"scaling_guard/{item.name}": item.read_text()
        for item in (ROOT / "lambda/scaling_guard").glob("*.py")
    }
    code = upload(aws, "guard.zip", archive(sources))
    environment = {"BUCKET": BUCKET, "SECONDS": str(SECONDS_TO_WAIT)}
    handlers = {
        name: function(code, f"scaling_guard.handler.{handler}", environment=environment)
        for name, handler in {"Handler": "handler", "Completer": "is_complete"}.items()
    }
    resources = {**waiting_provider(code, attempts=60), **handlers}
    resources["Framework"]["Properties"]["FunctionName"] = GUARD
    assert Stacks(aws).create("foundation", resources) == "CREATE_COMPLETE"


class GuardedStack:
    """The stack of an endpoint on `type`, whose policies track metrics by their target values.

    `is_earlier`: the template is that of a release whose guard names no configuration, and whose policies have the
    name of their metric alone.
    """

    def __init__(self, aws: EmbeddedAws, name: str) -> None:
        self.name, self.stacks = name, Stacks(aws)
        self.scaling, self.sagemaker = client(aws, "application-autoscaling"), client(aws, "sagemaker")
        self.s3 = client(aws, "s3")

    def create(self, type: str, **given_values: Any) -> None:
        assert self.stacks.create(self.name, self.resources(type, **given_values)) == "CREATE_COMPLETE"

    def update(self, type: str, *, is_broken: bool = False, **given_values: Any) -> str:
        """The status of the stack; `is_broken` has a part that fails when all the rest is done."""
        resources = self.resources(type, **given_values)
        if is_broken:
            container = {"Image": "triton", "ModelDataUrl": "s3://data/absent.tar.gz"}
            properties = {
                "ExecutionRoleArn": "arn:aws:iam::123456789012:role/any",
                "PrimaryContainer": container,
            }
            depends = [item for item in resources if item != "Model"]
            resources["Broken"] = {
                "Type": "AWS::SageMaker::Model",
                "DependsOn": depends,
                "Properties": properties,
            }
        return self.stacks.update(self.name, resources)

    def resources(
        self,
        type: str,
        *,
        targets: dict[str, float] | None = None,
        image: str = "triton:25.04",
        is_earlier: bool = False,
    ) -> Resources:
        targets = {"GpuUtilization": 60.0} if targets is None else targets
        result = endpoint(self.name, image=image)
        result["Config"]["Properties"]["ProductionVariants"][0]["InstanceType"] = type
        names = {
            metric: metric if is_earlier else f"{metric}-{type}-{value:g}"
            for metric, value in targets.items()
        }
        guarded_endpoint = {
            "ServiceToken": TOKEN,
            "EndpointName": self.name,
            "VariantName": "AllTraffic",
            "InstanceType": type,
        }
        if not is_earlier:
            guarded_endpoint["EndpointConfigName"] = {"Fn::GetAtt": ["Config", "EndpointConfigName"]}  # type: ignore[assignment]
            guarded_endpoint["Policies"] = list(names.values())  # type: ignore[assignment]
        for step, after in {"Before": "Config", "After": "Endpoint"}.items():
            properties = {**guarded_endpoint, "Step": step.lower()}
            result[step] = {"Type": "Custom::ScalingGuard", "DependsOn": after, "Properties": properties}
        result["Endpoint"]["DependsOn"] = "Before"
        result["Target"] = {
            "Type": "AWS::ApplicationAutoScaling::ScalableTarget",
            "DependsOn": "After",
            "Properties": {
                **target(self.name),
                "MinCapacity": 1,
                "MaxCapacity": 4,
                "Tags": [{"Key": "team", "Value": "search"}],
            },
        }
        for metric, name in names.items():
            specification = {"Namespace": "N", "MetricName": metric, "Statistic": "Average"}
            result[f"Policy{metric}"] = {
                "Type": "AWS::ApplicationAutoScaling::ScalingPolicy",
                "Properties": {
                    "PolicyName": name,
                    "PolicyType": "TargetTrackingScaling",
                    "ScalingTargetId": {"Ref": "Target"},
                    "TargetTrackingScalingPolicyConfiguration": {
                        "TargetValue": targets[metric],
                        "CustomizedMetricSpecification": specification,
                    },
                },
            }
        return result

    def tracked_values(self) -> dict[str, float]:
        """The metrics that scale the endpoint, each with its target value."""
        return {
            item["TargetTrackingScalingPolicyConfiguration"]["CustomizedMetricSpecification"][
                "MetricName"
            ]: item["TargetTrackingScalingPolicyConfiguration"]["TargetValue"]
            for item in self._policies()
        }

    def _policies(self) -> list[dict[str, Any]]:
        result = self.scaling.describe_scaling_policies(**target(self.name))["ScalingPolicies"]
        return [dict(item) for item in result]

    def are_own(self) -> bool:
        """Whether the policies that scale the endpoint are exactly those that CloudFormation knows."""
        ids = self.stacks.physical_ids(self.name)
        known_ids = {id for name, id in ids.items() if name.startswith("Policy")}
        return known_ids == {item["PolicyARN"] for item in self._policies()}

    def is_suspended(self) -> bool:
        """Whether anything of its scaling is suspended."""
        [result] = self.scaling.describe_scalable_targets(
            ServiceNamespace="sagemaker", ResourceIds=[target(self.name)["ResourceId"]]
        )["ScalableTargets"]
        return any(result["SuspendedState"].values())

    def is_saved(self) -> bool:
        prefix = f"scaling-guard/{self.name}/"
        return "Contents" in self.s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix)

    def type(self) -> str:
        """The machine that the endpoint runs on."""
        config = self.sagemaker.describe_endpoint(EndpointName=self.name)["EndpointConfigName"]
        [variant] = self.sagemaker.describe_endpoint_config(EndpointConfigName=config)["ProductionVariants"]
        return str(variant["InstanceType"])
