"""Autoscaling of the endpoint's variant."""

from __future__ import annotations

from aws_cdk import aws_applicationautoscaling as autoscaling
from constructs import Construct

from fleet.catalog.metrics import endpoint_metric
from fleet.resolve.endpoint import VARIANT, ResolvedScaling, TrackedTarget
from triton_endpoints.triton_endpoint import TritonEndpoint

PREDEFINED = {"invocations_per_instance": "SageMakerVariantInvocationsPerInstance"}
"""Measures that Application Auto Scaling knows by itself, without namespace and dimensions."""


class EndpointScaling(Construct):
    """Target tracking on instances of one variant; with several targets the largest capacity wins.

    The target names no role: Application Auto Scaling uses its service-linked one.
    """

    def __init__(
        self, scope: Construct, id: str, *, scaling: ResolvedScaling, endpoint: TritonEndpoint
    ) -> None:
        super().__init__(scope, id)
        self._scaling = scaling
        self._endpoint_name = endpoint.endpoint.attr_endpoint_name
        self.target = autoscaling.CfnScalableTarget(
            self,
            VARIANT,
            service_namespace="sagemaker",
            scalable_dimension="sagemaker:variant:DesiredInstanceCount",
            resource_id=f"endpoint/{self._endpoint_name}/variant/{VARIANT}",
            min_capacity=scaling.min,
            max_capacity=scaling.max,
        )
        for tracked in scaling.targets:
            self._track(tracked)

    def _track(self, tracked: TrackedTarget) -> None:
        name = "".join(part.capitalize() for part in tracked.measure.split("_"))
        autoscaling.CfnScalingPolicy(
            self,
            f"{VARIANT}{name}",
            policy_name=name,
            policy_type="TargetTrackingScaling",
            scaling_target_id=self.target.ref,
            target_tracking_scaling_policy_configuration=self._configuration(tracked),
        )

    def _configuration(
        self, tracked: TrackedTarget
    ) -> autoscaling.CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty:
        policy = autoscaling.CfnScalingPolicy
        predefined = PREDEFINED.get(tracked.measure)
        return policy.TargetTrackingScalingPolicyConfigurationProperty(
            target_value=tracked.value,
            scale_in_cooldown=self._scaling.scale_in,
            scale_out_cooldown=self._scaling.scale_out,
            predefined_metric_specification=policy.PredefinedMetricSpecificationProperty(
                predefined_metric_type=predefined
            )
            if predefined
            else None,
            customized_metric_specification=None if predefined else self._metric(tracked.measure),
        )

    def _metric(self, measure: str) -> autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty:
        metric = endpoint_metric(measure)
        dimensions = {"EndpointName": self._endpoint_name, "VariantName": VARIANT}
        return autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty(
            namespace=metric.namespace,
            metric_name=metric.name,
            dimensions=[
                autoscaling.CfnScalingPolicy.MetricDimensionProperty(name=name, value=value)
                for name, value in dimensions.items()
            ],
            statistic="Average",
            unit=metric.unit,
        )
