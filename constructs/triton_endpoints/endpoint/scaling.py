"""Autoscaling of an endpoint's variant."""

from __future__ import annotations

from aws_cdk import CfnResource
from aws_cdk import aws_applicationautoscaling as autoscaling
from constructs import Construct

from fleet.catalog.metrics import endpoint_metric
from fleet.endpoint.scaling import ResolvedScaling, TrackedTarget
from fleet.spec.scaling import Schedule


class EndpointScaling(Construct):
    """Target tracking and schedules on the instances of one variant; with several targets the largest wins.

    Each variant has a construct of its own. The target names no role: Application Auto Scaling uses its
    service-linked one.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        scaling: ResolvedScaling,
        endpoint_name: str,
        variant: str,
        after: CfnResource | None = None,
    ) -> None:
        """Scale a variant, once `after` exists."""
        super().__init__(scope, id)
        self._scaling = scaling
        self._dimensions = {"EndpointName": endpoint_name, "VariantName": variant}
        self.target = autoscaling.CfnScalableTarget(
            self,
            "Resource",
            service_namespace="sagemaker",
            scalable_dimension="sagemaker:variant:DesiredInstanceCount",
            resource_id=f"endpoint/{endpoint_name}/variant/{variant}",
            min_capacity=scaling.min,
            max_capacity=scaling.max,
            scheduled_actions=[_scheduled_action(schedule) for schedule in scaling.schedules] or None,
        )
        policies = [self._track(tracked) for tracked in scaling.targets]
        self.resources: tuple[CfnResource, ...] = (self.target, *policies)
        if after is not None:
            for each in self.resources:
                each.add_resource_dependency(after)

    def _track(self, tracked: TrackedTarget) -> autoscaling.CfnScalingPolicy:
        name = "".join(part.capitalize() for part in tracked.measure.split("_"))
        return autoscaling.CfnScalingPolicy(
            self,
            name,
            policy_name=name,
            policy_type="TargetTrackingScaling",
            scaling_target_id=self.target.ref,
            target_tracking_scaling_policy_configuration=self._configuration(tracked),
        )

    def _configuration(
        self, tracked: TrackedTarget
    ) -> autoscaling.CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty:
        predefined = endpoint_metric(tracked.measure).predefined
        return autoscaling.CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty(
            target_value=tracked.value,
            scale_in_cooldown=self._scaling.scale_in,
            scale_out_cooldown=self._scaling.scale_out,
            predefined_metric_specification=autoscaling.CfnScalingPolicy.PredefinedMetricSpecificationProperty(
                predefined_metric_type=predefined
            )
            if predefined
            else None,
            customized_metric_specification=None if predefined else self._metric(tracked.measure),
        )

    def _metric(self, measure: str) -> autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty:
        metric = endpoint_metric(measure)
        return autoscaling.CfnScalingPolicy.CustomizedMetricSpecificationProperty(
            namespace=metric.namespace,
            metric_name=metric.name,
            dimensions=[
                autoscaling.CfnScalingPolicy.MetricDimensionProperty(name=name, value=self._dimensions[name])
                for name in metric.dimensions
            ],
            statistic="Average",
            unit=metric.unit,
        )


def _scheduled_action(schedule: Schedule) -> autoscaling.CfnScalableTarget.ScheduledActionProperty:
    return autoscaling.CfnScalableTarget.ScheduledActionProperty(
        scheduled_action_name=schedule.name,
        schedule=schedule.at,
        timezone=schedule.time_zone,
        scalable_target_action=autoscaling.CfnScalableTarget.ScalableTargetActionProperty(
            min_capacity=schedule.min, max_capacity=schedule.max
        ),
    )
