"""Scaling, and the steps that put it aside while the endpoint is updated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_applicationautoscaling as autoscaling

from by_hand.values import VARIANT, Endpoint


def guard_steps(stack: Stack, values: Endpoint) -> list[CfnResource]:
    """Before and after the update; the function's ARN is known."""
    steps = []
    for step in ("before", "after"):
        resource = CfnResource(
            stack,
            f"{step.capitalize()}Update",
            type="Custom::ScalingGuard",
            properties={
                "ServiceToken": values.guard,
                "EndpointName": values.name,
                "VariantName": VARIANT,
                "InstanceType": values.instance_type,
                "Step": step,
            },
        )
        steps.append(resource)
    return steps


def scale(
    stack: Stack, scaling: Mapping[str, Any], endpoint_name: str, after: CfnResource
) -> list[CfnResource]:
    """The target and its two policies."""
    target = autoscaling.CfnScalableTarget(
        stack,
        "Target",
        service_namespace="sagemaker",
        scalable_dimension="sagemaker:variant:DesiredInstanceCount",
        resource_id=f"endpoint/{endpoint_name}/variant/{VARIANT}",
        min_capacity=scaling["min"],
        max_capacity=scaling["max"],
    )
    target.add_resource_dependency(after)
    made: list[CfnResource] = [target]
    policy = autoscaling.CfnScalingPolicy
    invocations = policy.TargetTrackingScalingPolicyConfigurationProperty(
        target_value=scaling["targets"]["invocations_per_instance"],
        scale_in_cooldown=scaling["scale_in"],
        scale_out_cooldown=scaling["scale_out"],
        predefined_metric_specification=policy.PredefinedMetricSpecificationProperty(
            predefined_metric_type="SageMakerVariantInvocationsPerInstance"
        ),
    )
    gpu = policy.TargetTrackingScalingPolicyConfigurationProperty(
        target_value=scaling["targets"]["gpu_utilization"],
        scale_in_cooldown=scaling["scale_in"],
        scale_out_cooldown=scaling["scale_out"],
        customized_metric_specification=policy.CustomizedMetricSpecificationProperty(
            namespace="/aws/sagemaker/Endpoints",
            metric_name="GPUUtilization",
            dimensions=[
                policy.MetricDimensionProperty(name="EndpointName", value=endpoint_name),
                policy.MetricDimensionProperty(name="VariantName", value=VARIANT),
            ],
            statistic="Average",
            unit="Percent",
        ),
    )
    for name, tracking in {"InvocationsPerInstance": invocations, "GpuUtilization": gpu}.items():
        tracked = policy(
            stack,
            name,
            policy_name=name,
            policy_type="TargetTrackingScaling",
            scaling_target_id=target.ref,
            target_tracking_scaling_policy_configuration=tracking,
        )
        tracked.add_resource_dependency(after)
        made.append(tracked)
    return made
