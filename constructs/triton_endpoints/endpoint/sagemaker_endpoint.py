"""The endpoint, its configuration, and how a new configuration takes over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import jsii
from aws_cdk import Aspects, IAspect, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IConstruct

from triton_endpoints.endpoint.model import EndpointModel
from triton_endpoints.logical_ids import identify_by_content, lay_over
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.metrics import PERIOD
from triton_fleet.context.rollout import DATAPOINTS, PERIODS, RollbackAlarm
from triton_fleet.endpoint.endpoint_parts import ResolvedRollout
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint
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
        self.alarms = tuple(self._alarm(alarm, dimensions, prefix) for alarm in rollout.alarms)
        self.deployment_config = _deployment_config(rollout, [alarm.ref for alarm in self.alarms])

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
            datapoints_to_alarm=DATAPOINTS,
            # A new fleet that nobody calls yet has no data, and is not broken.
            treat_missing_data="notBreaching",
        )


def _deployment_config(
    rollout: ResolvedRollout, alarms: list[str]
) -> sagemaker.CfnEndpoint.DeploymentConfigProperty:
    is_rolling = rollout.strategy is Strategy.ROLLING
    return sagemaker.CfnEndpoint.DeploymentConfigProperty(
        rolling_update_policy=_rolling_policy(rollout) if is_rolling else None,
        blue_green_update_policy=None if is_rolling else _blue_green(rollout),
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


_UNDIGESTED_KEYS = ("EndpointConfigName", "Tags")
"""Left out of the digest: the configuration's name, which would be circular, and tags, which are not part of
UpdateEndpoint."""
_LAST = 10_000
"""The priority of what follows all other aspects; those of the CDK itself have at most 1,000."""


@jsii.implements(IAspect)
class _ConfigName:
    """A logical id of the configuration that is another for each other UpdateEndpoint.

    SageMaker refuses an update with the configuration that runs, whatever else is new: "Cannot update
    endpoint with the currently in use endpoint configuration". So other settings of the endpoint make
    another configuration; tags, which are not an update, do not. As an aspect it sees what the app's own code
    and aspects changed; property overrides cannot be read.
    """

    def __init__(
        self,
        config: sagemaker.CfnEndpointConfig,
        endpoint: sagemaker.CfnEndpoint,
        raw: Mapping[str, object],
        alarms: Sequence[cloudwatch.CfnAlarm],
    ) -> None:
        self._config, self._endpoint, self._alarms = config, endpoint, alarms
        self._raw = {path: value for path, value in raw.items() if path.split(".")[0] not in _UNDIGESTED_KEYS}
        self._own_id = Stack.of(config).get_logical_id(config)

    def visit(self, node: IConstruct) -> None:
        """Give the id; each synth of an app gives the same one."""
        settings = {
            "deployment": self._endpoint.deployment_config,
            "retain": self._endpoint.retain_all_variant_properties,
            "retain_not": self._endpoint.exclude_retained_variant_properties,
            "raw": self._raw,
            # The deployment refers to its alarms; a new form of their names is a new DeploymentConfig.
            "alarms": [alarm.alarm_name for alarm in self._alarms],
        }
        # The alarms' names hold the configuration's, which is resolved here with the id without a digest.
        self._config.override_logical_id(self._own_id)
        identify_by_content(self._config, settings)


class SageMakerEndpoint(Construct):
    """An endpoint under its public name, with a configuration that is replaced on every change.

    A scaled endpoint keeps the number of instances that scaling has reached when it is updated; weights and
    data capture follow the template.
    """

    def __init__(
        self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint, model: EndpointModel
    ) -> None:
        super().__init__(scope, id)
        self.config = sagemaker.CfnEndpointConfig(
            self,
            "Config",
            production_variants=[
                production_variant(
                    name=VARIANT,
                    model_name=model.model.attr_model_name,
                    endpoint=endpoint,
                    model_download=endpoint.spec.timeouts.model_download,
                    startup=endpoint.spec.timeouts.startup,
                )
            ],
            # New configurations have detailed observability on by default, and it is billed.
            metrics_config=sagemaker.CfnEndpointConfig.MetricsConfigProperty(
                enable_detailed_observability=endpoint.spec.metrics.detailed_observability,
                enable_enhanced_metrics=endpoint.spec.metrics.enhanced,
                metric_publish_frequency_in_seconds=endpoint.spec.metrics.publish_every,
            ),
            data_capture_config=self._capture(endpoint),
            kms_key_id=endpoint.volume_key,
        )
        rollout = self._rollout(endpoint)
        self.endpoint = sagemaker.CfnEndpoint(
            self,
            "Resource",
            endpoint_name=endpoint.name,
            endpoint_config_name=self.config.attr_endpoint_config_name,
            retain_all_variant_properties=True if endpoint.scaling else None,
            exclude_retained_variant_properties=[
                sagemaker.CfnEndpoint.VariantPropertyProperty(variant_property_type=kind)
                for kind in ("DataCaptureConfig", "DesiredWeight")
            ]
            if endpoint.scaling
            else None,
            deployment_config=rollout.deployment_config if rollout else None,
        )
        raw_config = endpoint.spec.cloudformation.get("EndpointConfig", {})
        lay_over(self.config, raw_config, model=model.model)
        raw = endpoint.spec.cloudformation.get("Endpoint", {})
        lay_over(self.endpoint, raw)
        self.rollback_alarms = rollout.alarms if rollout else ()
        name = _ConfigName(self.config, self.endpoint, raw, self.rollback_alarms)
        Aspects.of(self.endpoint).add(name, priority=_LAST)

    def _rollout(self, endpoint: ResolvedEndpoint) -> EndpointRollout | None:
        if endpoint.rollout is None:
            return None
        dimensions = {
            "EndpointName": endpoint.name,
            "VariantName": VARIANT,
            "EndpointConfigName": self.config.attr_endpoint_config_name,
        }
        return EndpointRollout(
            self,
            "Rollout",
            rollout=endpoint.rollout,
            dimensions=dimensions,
            prefix=endpoint.rollback_alarm_prefix,
        )

    @staticmethod
    def _capture(endpoint: ResolvedEndpoint) -> sagemaker.CfnEndpointConfig.DataCaptureConfigProperty | None:
        capture, deployment = endpoint.spec.capture, endpoint.deployment
        if capture is None:
            return None
        modes = {"Input": capture.requests, "Output": capture.responses}
        return sagemaker.CfnEndpointConfig.DataCaptureConfigProperty(
            enable_capture=True,
            initial_sampling_percentage=capture.sample,
            destination_s3_uri=f"s3://{deployment.bucket}/{endpoint.capture_prefix.rstrip('/')}",
            kms_key_id=deployment.bucket_key,
            capture_options=[
                sagemaker.CfnEndpointConfig.CaptureOptionProperty(capture_mode=mode)
                for mode, is_captured in modes.items()
                if is_captured
            ],
            # Any other content type is captured in Base64, as the binary payloads have to be.
            capture_content_type_header=sagemaker.CfnEndpointConfig.CaptureContentTypeHeaderProperty(
                json_content_types=["application/json"]
            ),
        )


def production_variant(
    *,
    name: str,
    model_name: str,
    endpoint: ResolvedEndpoint,
    weight: float = 1,
    model_download: float | None = None,
    startup: float | None = None,
) -> sagemaker.CfnEndpointConfig.ProductionVariantProperty:
    """A variant with the instances and the host image of an endpoint, and time-outs in seconds."""
    return sagemaker.CfnEndpointConfig.ProductionVariantProperty(
        variant_name=name,
        model_name=model_name,
        # SageMaker takes one of the two; the pools are laid over.
        instance_type=None if endpoint.is_pooled else endpoint.instance.type,
        initial_instance_count=endpoint.spec.instance.count,
        initial_variant_weight=weight,
        inference_ami_version=endpoint.ami,
        model_data_download_timeout_in_seconds=model_download,
        container_startup_health_check_timeout_in_seconds=startup,
        routing_config=sagemaker.CfnEndpointConfig.RoutingConfigProperty(
            routing_strategy="LEAST_OUTSTANDING_REQUESTS"
        ),
    )
