"""SageMaker's models, configurations and endpoints: moto's backend where each endpoint is really served."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

from moto.applicationautoscaling.models import ApplicationAutoscalingBackend, applicationautoscaling_backends
from moto.cloudwatch.models import CloudWatchBackend, cloudwatch_backends
from moto.core.responses import ActionResult
from moto.s3.models import s3_backends
from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.models import Model
from moto.sagemaker.urls import url_bases

from fleet_emulator import process_state
from fleet_emulator.failures import is_said, reason_of
from fleet_emulator.hosting import DeployedEndpoint, HostingError
from fleet_emulator.process_state import handed_over
from fleet_emulator.sagemaker.constraints import Names, arn_of
from fleet_emulator.sagemaker.deployment import NO_RETENTION, Retention, alarms_on, require_deployment
from fleet_emulator.sagemaker.deployment import Config as DeploymentConfig
from fleet_emulator.sagemaker.endpoint import EmbeddedEndpoint, deployed_endpoint
from fleet_emulator.sagemaker.instance_quotas import first_instances, require_quotas, second_instances
from fleet_emulator.sagemaker.jobs.backend import EmbeddedJobs, EmbeddedJobsResponse
from fleet_emulator.sagemaker.model_data import require_model_data, require_model_image
from fleet_emulator.sagemaker.scalable_endpoints import deregister_variants, require_scalable_variant
from fleet_emulator.sagemaker.variants import EmbeddedEndpointConfig, require_metrics, require_variants
from fleet_emulator.service_urls import ServiceUrls

log = logging.getLogger("fleet_emulator")

CONFIGURATION_IN_USE = "Cannot update endpoint with the currently in use endpoint configuration"
"""Source: measured (github.com/mikegc-aws/strands-decider-triton, deploy/create_endpoint.py)."""

Tags = list[dict[str, str]]


class EmbeddedSageMaker(EmbeddedJobs):
    """One account's SageMaker in one region; refusals are worded as SageMaker words them."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._models = Names()
        self.endpoint_configs = Names()

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedSageMakerResponse.dispatch})

    def create_model(
        self,
        model_name: str,
        execution_role_arn: str,
        primary_container: dict[str, Any] | None,
        vpc_config: dict[str, Any] | None,
        containers: list[dict[str, Any]] | None,
        tags: Tags | None,
    ) -> Model:
        """CreateModel: its data has to be in S3, and its image in the registry."""
        self._refuse_duplicate("model", model_name, self._models)
        s3 = s3_backends[self.account_id][self.partition]
        for container in [primary_container] if primary_container else containers or []:
            require_model_data(container, s3)
            require_model_image(container, self.account_id, self.region_name)
        model = super().create_model(
            model_name, execution_role_arn, primary_container, vpc_config, containers, tags
        )
        model.arn = arn_of("model", model_name, self.account_id, self.region_name)
        return model

    def delete_model(self, model_name: str) -> None:
        """DeleteModel, which moto answers only to the name as it was spelled."""
        if model_name in self._models:
            model_name = self._models[model_name].model_name
        super().delete_model(model_name)

    def create_endpoint_config(
        self,
        endpoint_config_name: str,
        production_variants: list[dict[str, Any]],
        data_capture_config: dict[str, Any],
        async_inference_config: dict[str, Any],
        tags: Tags,
        kms_key_id: str,
        shadow_production_variants: list[dict[str, Any]] | None = None,
        metrics_config: dict[str, Any] | None = None,
    ) -> EmbeddedEndpointConfig:
        """CreateEndpointConfig: its models have to exist."""
        self._refuse_duplicate("endpoint-config", endpoint_config_name, self.endpoint_configs)
        shadows = shadow_production_variants or []
        require_variants(
            production_variants, shadows, self._models, account=self.account_id, region=self.region_name
        )
        require_metrics(metrics_config or {})
        config = EmbeddedEndpointConfig(
            account_id=self.account_id,
            region_name=self.region_name,
            endpoint_config_name=endpoint_config_name,
            production_variants=production_variants,
            shadow_production_variants=shadows,
            metrics_config=metrics_config,
            async_inference_config=async_inference_config,
            data_capture_config=data_capture_config,
            tags=tags,
            kms_key_id=kms_key_id,
        )
        self.endpoint_configs[endpoint_config_name] = config
        return config

    def delete_endpoint_config(self, endpoint_config_name: str) -> None:
        """DeleteEndpointConfig.

        SageMaker deletes a configuration in use (hashicorp/terraform-provider-aws 48997, 40048), although its
        reference forbids that; it is refused here on purpose, so that a wrong order is found locally.
        """
        for endpoint in self.endpoints.values():
            if cast(EmbeddedEndpoint, endpoint).uses(endpoint_config_name):
                arn = arn_of("endpoint-config", endpoint_config_name, self.account_id, self.region_name)
                raise ValidationError(
                    f'Cannot delete endpoint configuration "{arn}": endpoint "{endpoint.arn}" uses it.'
                )
        super().delete_endpoint_config(endpoint_config_name)

    def create_endpoint(
        self,
        endpoint_name: str,
        endpoint_config_name: str,
        tags: Tags,
        deployment: DeploymentConfig | None = None,
    ) -> EmbeddedEndpoint:
        """CreateEndpoint, which here returns when the endpoint is InService or Failed."""
        self._refuse_duplicate("endpoint", endpoint_name, self.endpoints)
        self.describe_endpoint_config(endpoint_config_name)
        config = self.endpoint_configs[endpoint_config_name]
        endpoint = EmbeddedEndpoint(
            config, name=endpoint_name, account_id=self.account_id, region=self.region_name, tags=tags
        )
        endpoint.last_deployment_config = self._deployment(deployment, endpoint)
        require_quotas(self, first_instances(config))
        self.endpoints[endpoint_name] = endpoint
        try:
            self._serve(endpoint, self._deploy_config(endpoint, endpoint_config_name))
        except Exception as error:
            endpoint.settle("Failed", _error_text(error))
        else:
            endpoint.settle("InService")
        return endpoint

    def update_endpoint(
        self,
        endpoint_name: str,
        endpoint_config_name: str,
        *,
        retention: Retention = NO_RETENTION,
        deployment: DeploymentConfig | None = None,
        retain_deployment: bool = False,
    ) -> EmbeddedEndpoint:
        """UpdateEndpoint, which here returns when it is over: on failure the old configuration stays.

        An alarm of the deployment that is in ALARM, when the update begins or when it has been served, rolls
        it back. A deployment that is given counts, even where the last one is to be retained.

        Raises:
            ValidationError: the endpoint has the configuration already.
        """
        endpoint = self._require_final_status(endpoint_name)
        if endpoint_config_name.lower() == endpoint.endpoint_config_name.lower():
            raise ValidationError(CONFIGURATION_IN_USE)
        for name in (endpoint.endpoint_config_name, endpoint_config_name):
            self.describe_endpoint_config(name)
        config = self.endpoint_configs[endpoint_config_name]
        require_scalable_variant(
            endpoint_name,
            self.endpoint_configs[endpoint.endpoint_config_name].production_variants,
            config.production_variants,
            self._scaling,
        )
        if deployment is None and retain_deployment:
            deployment = endpoint.last_deployment_config
        endpoint.last_deployment_config = self._deployment(deployment, endpoint)
        require_quotas(self, second_instances(endpoint, config, retention, deployment))
        endpoint.endpoint_status, endpoint.config_in_update = "Updating", config.endpoint_config_name
        before = endpoint.hosted_endpoint
        try:
            self._refuse_alarm(deployment)
            self._serve(endpoint, self._deploy_config(endpoint, endpoint_config_name))
            self._refuse_alarm(deployment)
        except Exception as error:
            self._roll_back(endpoint, before, _error_text(error))
        else:
            endpoint.take_over(config, retention)
            endpoint.settle("InService")
        return endpoint

    def update_endpoint_weights_and_capacities(
        self,
        endpoint_name: str,
        desired_weights_and_capacities: list[dict[str, Any]],
        on_end: Callable[[], None] = lambda: None,
    ) -> str:
        """UpdateEndpointWeightsAndCapacities, which returns while the endpoint is Updating.

        `on_end` is called when it is InService again. moto forgets the weight where only a count is given.
        """
        endpoint = self._require_final_status(endpoint_name)
        before = {variant["VariantName"]: dict(variant) for variant in endpoint.production_variants}
        arn: str = super().update_endpoint_weights_and_capacities(
            endpoint_name, desired_weights_and_capacities
        )
        endpoint.scale(before, on_end)
        return arn

    def delete_endpoint(self, endpoint_name: str) -> None:
        """DeleteEndpoint, which here returns when nothing is served or scaled any more."""
        endpoint = self._require_final_status(endpoint_name)
        endpoint.endpoint_status = "Deleting"
        with handed_over():
            process_state.current().host.remove(endpoint.id)
        deregister_variants(endpoint_name, self._scaling)
        super().delete_endpoint(endpoint_name)

    def _roll_back(self, endpoint: EmbeddedEndpoint, before: DeployedEndpoint | None, reason: str) -> None:
        """Keep the old configuration, which is served again if it had been left already."""
        if before is None:
            endpoint.settle("Failed", reason)
            return
        if endpoint.hosted_endpoint is before:
            endpoint.settle("InService", reason)
            return
        endpoint.endpoint_status = "RollingBack"
        try:
            self._serve(endpoint, before)
        except Exception as error:
            endpoint.settle("UpdateRollbackFailed", f"{reason} The rollback failed: {_error_text(error)}")
        else:
            endpoint.settle("InService", reason)

    def _refuse_alarm(self, deployment: DeploymentConfig | None) -> None:
        """Of the words nothing is SageMaker's.

        Raises:
            HostingError: an alarm of the deployment is in ALARM.
        """
        if names := alarms_on(deployment, self._alarms):
            raise HostingError(f"The update was rolled back: CloudWatch alarm in ALARM: {', '.join(names)}.")

    def _deployment(
        self, deployment: DeploymentConfig | None, endpoint: EmbeddedEndpoint
    ) -> DeploymentConfig | None:
        if deployment is not None:
            require_deployment(deployment, endpoint.production_variants, self._alarms)
        return deployment

    @property
    def _alarms(self) -> CloudWatchBackend:
        return cloudwatch_backends[self.account_id][self.region_name]

    @property
    def _scaling(self) -> ApplicationAutoscalingBackend:
        return applicationautoscaling_backends[self.account_id][self.region_name]

    def _deploy_config(self, endpoint: EmbeddedEndpoint, config_name: str) -> DeployedEndpoint:
        config = cast(EmbeddedEndpointConfig, self.endpoint_configs[config_name])
        return deployed_endpoint(endpoint, config, self._models)

    @staticmethod
    def _serve(endpoint: EmbeddedEndpoint, target: DeployedEndpoint) -> None:
        with handed_over():
            process_state.current().host.serve(target)
        endpoint.hosted_endpoint = target

    def _require_final_status(self, endpoint_name: str) -> EmbeddedEndpoint:
        self.describe_endpoint(endpoint_name)
        endpoint = cast(EmbeddedEndpoint, self.endpoints[endpoint_name])
        if endpoint.in_progress:
            raise ValidationError(f'Cannot update in-progress endpoint "{endpoint.arn}".')
        return endpoint

    def _refuse_duplicate(self, kind: str, name: str, resources: dict[str, Any]) -> None:
        if name in resources:
            arn = arn_of(kind, name, self.account_id, self.region_name)
            raise ValidationError(f'Cannot create already existing {kind} "{arn}".')


class EmbeddedSageMakerResponse(EmbeddedJobsResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def create_endpoint_config(self) -> ActionResult:
        """CreateEndpointConfig."""
        config = self._backend.create_endpoint_config(
            self._get_param("EndpointConfigName"),
            self._get_param("ProductionVariants"),
            self._get_param("DataCaptureConfig"),
            self._get_param("AsyncInferenceConfig"),
            self._get_param("Tags"),
            self._get_param("KmsKeyId"),
            self._get_param("ShadowProductionVariants"),
            self._get_param("MetricsConfig"),
        )
        return ActionResult({"EndpointConfigArn": config.endpoint_config_arn})

    def create_endpoint(self) -> ActionResult:
        """CreateEndpoint."""
        endpoint = self._backend.create_endpoint(
            self._get_param("EndpointName"),
            self._get_param("EndpointConfigName"),
            self._get_param("Tags"),
            self._get_param("DeploymentConfig"),
        )
        return ActionResult({"EndpointArn": endpoint.arn})

    def update_endpoint(self) -> ActionResult:
        """UpdateEndpoint."""
        endpoint = self._backend.update_endpoint(
            self._get_param("EndpointName"),
            self._get_param("EndpointConfigName"),
            retention=Retention.of(
                self._get_param("RetainAllVariantProperties"),
                self._get_param("ExcludeRetainedVariantProperties"),
            ),
            deployment=self._get_param("DeploymentConfig"),
            retain_deployment=self._get_param("RetainDeploymentConfig", False),
        )
        return ActionResult({"EndpointArn": endpoint.arn})

    @property
    def _backend(self) -> EmbeddedSageMaker:
        return cast(EmbeddedSageMaker, self.sagemaker_backend)


def _error_text(error: Exception) -> str:
    if not is_said(error):
        log.exception("the host failed")
    return reason_of(error)
