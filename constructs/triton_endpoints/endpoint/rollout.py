"""How a new configuration takes over, and the alarms that roll it back."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.metrics import PERIOD
from triton_fleet.context.rollout import PERIODS, RINGING, RollbackAlarm
from triton_fleet.endpoint.endpoint_parts import ResolvedRollout
from triton_fleet.spec.rollout import Strategy

_TYPES = {Strategy.ALL_AT_ONCE: "ALL_AT_ONCE", Strategy.CANARY: "CANARY", Strategy.LINEAR: "LINEAR"}


class EndpointRollout(Construct):
    """One variant's rollback alarms, whose names begin with `prefix`, and SageMaker's DeploymentConfig.

    The alarms are of the new configuration, and new with it: metrics of a configuration continue after its
    rollout, and an alarm keeps its state when it is changed, so that the errors of what runs now would stop
    the rollout that fixes them. The endpoint is named literally in them, as it waits for them itself.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        rollout: ResolvedRollout,
        dimensions: Mapping[str, str],
        prefix: str,
    ) -> None:
        super().__init__(scope, id)
        alarms = [self._alarm(alarm, dimensions, prefix) for alarm in rollout.alarms]
        self.deployment_config = _deployment_config(rollout, [alarm.ref for alarm in alarms])

    def _alarm(self, alarm: RollbackAlarm, dimensions: Mapping[str, str], prefix: str) -> cloudwatch.CfnAlarm:
        metric = endpoint_metric(alarm.measure)
        percentile = alarm.statistic.startswith("p")
        id = f"{metric.name}{alarm.statistic.capitalize()}"
        return cloudwatch.CfnAlarm(
            self,
            id,
            # Another name is another alarm: CloudFormation makes it before the endpoint is updated.
            alarm_name=f"{prefix}{dimensions['EndpointConfigName']}-{id}",
            alarm_description=f"Rolls back an update of {dimensions['EndpointName']}; notifies nobody",
            namespace=metric.namespace,
            metric_name=metric.name,
            dimensions=[
                cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value)
                for name, value in dimensions.items()
            ],
            statistic=None if percentile else alarm.statistic,
            extended_statistic=alarm.statistic if percentile else None,
            comparison_operator="GreaterThanThreshold",
            threshold=alarm.threshold,
            period=PERIOD,
            evaluation_periods=PERIODS,
            datapoints_to_alarm=RINGING,
            # A new fleet that nobody calls yet has no data, and is not broken.
            treat_missing_data="notBreaching",
        )


def _deployment_config(
    rollout: ResolvedRollout, alarms: list[str]
) -> sagemaker.CfnEndpoint.DeploymentConfigProperty:
    rolling = rollout.strategy is Strategy.ROLLING
    return sagemaker.CfnEndpoint.DeploymentConfigProperty(
        rolling_update_policy=_rolling_policy(rollout) if rolling else None,
        blue_green_update_policy=None if rolling else _blue_green(rollout),
        auto_rollback_configuration=sagemaker.CfnEndpoint.AutoRollbackConfigProperty(
            alarms=[sagemaker.CfnEndpoint.AlarmProperty(alarm_name=name) for name in alarms]
        )
        if alarms
        else None,
    )


def _rolling_policy(rollout: ResolvedRollout) -> sagemaker.CfnEndpoint.RollingUpdatePolicyProperty:
    return sagemaker.CfnEndpoint.RollingUpdatePolicyProperty(
        maximum_batch_size=_share(rollout),
        # Left out, a rollback starts the whole old fleet at once, where instances may be scarce.
        rollback_maximum_batch_size=_share(rollout),
        wait_interval_in_seconds=rollout.bake,
        maximum_execution_timeout_in_seconds=rollout.timeout,
    )


def _blue_green(rollout: ResolvedRollout) -> sagemaker.CfnEndpoint.BlueGreenUpdatePolicyProperty:
    return sagemaker.CfnEndpoint.BlueGreenUpdatePolicyProperty(
        traffic_routing_configuration=sagemaker.CfnEndpoint.TrafficRoutingConfigProperty(
            type=_TYPES[rollout.strategy],
            wait_interval_in_seconds=rollout.bake,
            canary_size=_share(rollout) if rollout.strategy is Strategy.CANARY else None,
            linear_step_size=_share(rollout) if rollout.strategy is Strategy.LINEAR else None,
        ),
        termination_wait_in_seconds=rollout.termination_wait,
        maximum_execution_timeout_in_seconds=rollout.timeout,
    )


def _share(rollout: ResolvedRollout) -> sagemaker.CfnEndpoint.CapacitySizeProperty:
    assert rollout.step is not None  # noqa: S101 (the rule rollout-key-mismatch asks for it)
    return sagemaker.CfnEndpoint.CapacitySizeProperty(type="CAPACITY_PERCENT", value=rollout.step)
