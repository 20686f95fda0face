"""The rollout of a new configuration, with the alarms that call it back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sagemaker as sagemaker

from by_hand.role import allow, document
from by_hand.values import VARIANT, Endpoint


def deployment(
    stack: Stack, values: Endpoint, rollout: Mapping[str, Any], config_name: str, role: str
) -> tuple[sagemaker.CfnEndpoint.DeploymentConfigProperty, list[CfnResource]]:
    """A canary, and what the endpoint waits for: its alarms, and the permission to see them."""
    alarms = [
        cloudwatch.CfnAlarm(
            stack,
            f"{alarm['metric']}Alarm",
            alarm_name=f"{config_name}-{alarm['name']}",
            alarm_description=f"Calls a rollout of {values.name} back; it wakes nobody",
            namespace="AWS/SageMaker",
            metric_name=alarm["metric"],
            dimensions=[
                cloudwatch.CfnAlarm.DimensionProperty(name="EndpointName", value=values.name),
                cloudwatch.CfnAlarm.DimensionProperty(name="VariantName", value=VARIANT),
                cloudwatch.CfnAlarm.DimensionProperty(name="EndpointConfigName", value=config_name),
            ],
            statistic=alarm.get("statistic"),
            extended_statistic=alarm.get("percentile"),
            comparison_operator="GreaterThanThreshold",
            threshold=alarm["threshold"],
            period=60,
            evaluation_periods=3,
            datapoints_to_alarm=2,
            treat_missing_data="notBreaching",
        )
        for alarm in rollout["alarms"]
    ]
    policy = iam.CfnPolicy(
        stack,
        "RollbackAlarms",
        policy_name="RollbackAlarms",
        roles=[role],
        policy_document=document(
            allow("SeeRollbackAlarms", "cloudwatch:DescribeAlarms", [alarm.attr_arn for alarm in alarms])
        ),
    )
    endpoint = sagemaker.CfnEndpoint
    config = endpoint.DeploymentConfigProperty(
        blue_green_update_policy=endpoint.BlueGreenUpdatePolicyProperty(
            traffic_routing_configuration=endpoint.TrafficRoutingConfigProperty(
                type="CANARY",
                wait_interval_in_seconds=rollout["bake"],
                canary_size=endpoint.CapacitySizeProperty(type="CAPACITY_PERCENT", value=rollout["canary"]),
            ),
            termination_wait_in_seconds=rollout["termination_wait"],
            maximum_execution_timeout_in_seconds=rollout["timeout"],
        ),
        auto_rollback_configuration=endpoint.AutoRollbackConfigProperty(
            alarms=[endpoint.AlarmProperty(alarm_name=alarm.ref) for alarm in alarms]
        ),
    )
    return config, [policy]
