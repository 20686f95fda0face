"""Autoscaling of an endpoint's variant."""

from __future__ import annotations

from aws_cdk import CfnResource, Stack
from aws_cdk import aws_applicationautoscaling as autoscaling
from constructs import Construct

from triton_endpoints.logical_ids import content_digest
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.endpoint.endpoint_parts import ResolvedScaling, TrackedTarget
from triton_fleet.spec.instance import Schedule


class EndpointScaling(Construct):
    """Target tracking and schedules on the instances of one variant; with several targets the largest wins.

    Each variant has a construct of its own. The target names no role: Application Auto Scaling uses its
    service-linked one.

    Under the scaling guard each instance type and each other configuration is a policy of another name.
    CloudFormation knows a policy by its ARN, which is another one once the guard has deregistered the
    variant: it could no longer update the policy, but it replaces one that is gone.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        scaling: ResolvedScaling,
        endpoint_name: str,
        variant: str,
        instance: str | None = None,
        after: CfnResource | None = None,
    ) -> None:
        """Scale a variant, once `after` exists.

        Args:
            scope: The parent.
            id: The construct's own.
            scaling: The range, the targets and the schedules.
            endpoint_name: The endpoint's name.
            variant: Its variant's name.
            instance: The variant's instance type, under the scaling guard; None without one.
            after: What has to exist before.
        """
        super().__init__(scope, id)
        self._scaling, self._instance, self._stack = scaling, instance, Stack.of(self)
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
        self.policies = tuple(self._track(target) for target in scaling.targets)
        if after is not None:
            for resource in (self.target, *self.policies):
                resource.add_resource_dependency(after)

    def _track(self, target: TrackedTarget) -> autoscaling.CfnScalingPolicy:
        measure = "".join(part.capitalize() for part in target.measure.split("_"))
        configuration = self._configuration(target)
        return autoscaling.CfnScalingPolicy(
            self,
            measure,
            policy_name=self._policy_name(measure, configuration),
            policy_type="TargetTrackingScaling",
            scaling_target_id=self.target.ref,
            target_tracking_scaling_policy_configuration=configuration,
        )

    def _policy_name(self, measure: str, configuration: object) -> str:
        if self._instance is None:
            return measure
        return f"{measure}-{self._instance}-{content_digest(self._stack, configuration)}"

    def _configuration(
        self, target: TrackedTarget
    ) -> autoscaling.CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty:
        metric_type = endpoint_metric(target.measure).predefined_type
        return autoscaling.CfnScalingPolicy.TargetTrackingScalingPolicyConfigurationProperty(
            target_value=target.value,
            scale_in_cooldown=self._scaling.scale_in,
            scale_out_cooldown=self._scaling.scale_out,
            predefined_metric_specification=autoscaling.CfnScalingPolicy.PredefinedMetricSpecificationProperty(
                predefined_metric_type=metric_type
            )
            if metric_type
            else None,
            customized_metric_specification=None if metric_type else self._metric(target.measure),
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
