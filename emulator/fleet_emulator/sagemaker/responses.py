"""SageMaker's API calls that moto does not know, or of which it does not read all."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from moto.core.responses import ActionResult
from moto.sagemaker.urls import url_bases

from fleet_emulator.sagemaker.jobs.responses import EmbeddedJobsResponse
from fleet_emulator.sagemaker.retention import Retention

if TYPE_CHECKING:
    from fleet_emulator.sagemaker.backend import EmbeddedSageMaker


__all__ = ["EmbeddedSageMakerResponse", "url_bases", "url_paths"]


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
        return cast("EmbeddedSageMaker", self.sagemaker_backend)


url_paths = {"{0}/$": EmbeddedSageMakerResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
