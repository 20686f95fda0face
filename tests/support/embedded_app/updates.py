"""Configurations, registrations and alarms of endpoints that are updated."""

from __future__ import annotations

from typing import Any

from tests.support.embedded_app.scaling import target
from tests.support.embedded_app.stacks import DATA, ROLE

TYPE = "ml.g5.xlarge"
CAPTURE = {
    "EnableCapture": True,
    "InitialSamplingPercentage": 20,
    "DestinationS3Uri": "s3://data/captured",
    "CaptureOptions": [{"CaptureMode": "Input"}],
}
ALL_AT_ONCE_POLICY = {"Type": "ALL_AT_ONCE", "WaitIntervalInSeconds": 60}
HALF = {"Type": "CAPACITY_PERCENT", "Value": 50}


def create_config(
    sagemaker: Any, name: str, *variants: dict[str, Any], capture: dict[str, Any] | None = None
) -> None:
    """A configuration of variants that are `{}` or differ from AllTraffic with one instance; one model for all."""
    if not sagemaker.list_models(NameContains="any-model")["Models"]:
        container = {"Image": "triton:25.04", "ModelDataUrl": DATA}
        sagemaker.create_model(ModelName="any-model", ExecutionRoleArn=ROLE, PrimaryContainer=container)
    usual = {"VariantName": "AllTraffic", "ModelName": "any-model", "InstanceType": TYPE}
    sagemaker.create_endpoint_config(
        EndpointConfigName=name,
        ProductionVariants=[{**usual, "InitialInstanceCount": 1, **variant} for variant in variants or ({},)],
        **({} if capture is None else {"DataCaptureConfig": capture}),
    )


def register(scaling: Any, endpoint_name: str, variant: str = "AllTraffic") -> dict[str, str]:
    expected_target = target(endpoint_name, variant)
    scaling.register_scalable_target(**expected_target, MinCapacity=1, MaxCapacity=4)
    return expected_target


def variants_of(sagemaker: Any, name: str) -> dict[str, dict[str, Any]]:
    endpoint = sagemaker.describe_endpoint(EndpointName=name)
    return {variant["VariantName"]: variant for variant in endpoint["ProductionVariants"]}


def put_alarm(cloudwatch: Any, name: str, state: str = "OK") -> None:
    cloudwatch.put_metric_alarm(
        AlarmName=name,
        Namespace="AWS/SageMaker",
        MetricName="Invocation5XXErrors",
        Statistic="Average",
        Period=60,
        EvaluationPeriods=1,
        Threshold=0.0,
        ComparisonOperator="GreaterThanThreshold",
    )
    cloudwatch.set_alarm_state(AlarmName=name, StateValue=state, StateReason="a test")


def guarded_config(*alarms: str) -> dict[str, Any]:
    return {
        "BlueGreenUpdatePolicy": {"TrafficRoutingConfiguration": ALL_AT_ONCE_POLICY},
        "AutoRollbackConfiguration": {"Alarms": [{"AlarmName": name} for name in alarms]},
    }
