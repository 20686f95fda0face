"""Endpoints with variants that are scaled."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.support.embedded_app.stacks import DATA, ROLE

COUNT = "sagemaker:variant:DesiredInstanceCount"
TRACKING_POLICY = {
    "TargetValue": 70.0,
    "PredefinedMetricSpecification": {"PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"},
    "ScaleInCooldown": 0,
    "ScaleOutCooldown": 0,
}
OTHER_TARGET = {
    "ServiceNamespace": "lambda",
    "ResourceId": "function:f:alias",
    "ScalableDimension": "lambda:function:ProvisionedConcurrency",
}


def serve(sagemaker: Any, name: str, *, variants: tuple[str, ...] = ("AllTraffic",), **config: Any) -> None:
    container = {"Image": "triton:25.04", "ModelDataUrl": DATA}
    sagemaker.create_model(ModelName=name, ExecutionRoleArn=ROLE, PrimaryContainer=container)
    declared_values = [
        {"VariantName": v, "ModelName": name, "InstanceType": "ml.g5.xlarge", "InitialInstanceCount": 1}
        for v in variants
    ]
    sagemaker.create_endpoint_config(EndpointConfigName=name, ProductionVariants=declared_values, **config)
    sagemaker.create_endpoint(EndpointName=name, EndpointConfigName=name)


def target(endpoint_name: str, variant: str = "AllTraffic") -> dict[str, str]:
    resource_id = f"endpoint/{endpoint_name}/variant/{variant}"
    return {"ServiceNamespace": "sagemaker", "ResourceId": resource_id, "ScalableDimension": COUNT}


def registered_target(scaling: Any, expected_values: dict[str, str]) -> dict[str, Any]:
    [scalable_target] = scaling.describe_scalable_targets(
        ServiceNamespace=expected_values["ServiceNamespace"], ResourceIds=[expected_values["ResourceId"]]
    )["ScalableTargets"]
    return dict(scalable_target)


def actions(scaling: Any, expected_values: dict[str, str]) -> dict[str, dict[str, Any]]:
    actual_actions = scaling.describe_scheduled_actions(**expected_values)["ScheduledActions"]
    return {action["ScheduledActionName"]: action for action in actual_actions}


def code_of(refused_info: pytest.ExceptionInfo[ClientError]) -> str:
    return str(refused_info.value.response["Error"]["Code"])
