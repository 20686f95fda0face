"""SageMaker's models, configurations and endpoints: moto's backend where each endpoint is really served."""

from __future__ import annotations

import logging
from types import ModuleType
from typing import Any, cast

from moto.s3.models import s3_backends
from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.models import Model, SageMakerModelBackend
from moto.sagemaker.utils import arn_formatter

from fleet.local.aws import running
from fleet.local.aws.failures import is_said, reason_of
from fleet.local.aws.sagemaker import urls
from fleet.local.aws.sagemaker.endpoint import EmbeddedEndpoint, deployed_endpoint
from fleet.local.aws.sagemaker.instance_types import EmbeddedEndpointConfig
from fleet.local.aws.sagemaker.model_data import require_model_data
from fleet.local.aws.turns import handed_over
from fleet.local.hosting import DeployedEndpoint

log = logging.getLogger("fleet.local.aws")

Tags = list[dict[str, str]]


class EmbeddedSageMaker(SageMakerModelBackend):
    """One account's SageMaker in one region; refusals are worded as SageMaker words them."""

    @property
    def _url_module(self) -> ModuleType:
        return urls

    def create_model(
        self,
        model_name: str,
        execution_role_arn: str,
        primary_container: dict[str, Any] | None,
        vpc_config: dict[str, Any] | None,
        containers: list[dict[str, Any]] | None,
        tags: Tags | None,
    ) -> Model:
        """CreateModel: its data has to be in S3."""
        self._refuse_existing("model", model_name, self._models)
        s3 = s3_backends[self.account_id][self.partition]
        for container in [primary_container] if primary_container else containers or []:
            require_model_data(container, s3)
        return super().create_model(
            model_name, execution_role_arn, primary_container, vpc_config, containers, tags
        )

    def create_endpoint_config(
        self,
        endpoint_config_name: str,
        production_variants: list[dict[str, Any]],
        data_capture_config: dict[str, Any],
        async_inference_config: dict[str, Any],
        tags: Tags,
        kms_key_id: str,
    ) -> EmbeddedEndpointConfig:
        """CreateEndpointConfig: its models have to exist."""
        self._refuse_existing("endpoint-config", endpoint_config_name, self.endpoint_configs)
        config = EmbeddedEndpointConfig(
            account_id=self.account_id,
            region_name=self.region_name,
            endpoint_config_name=endpoint_config_name,
            production_variants=production_variants,
            async_inference_config=async_inference_config,
            data_capture_config=data_capture_config,
            tags=tags,
            kms_key_id=kms_key_id,
        )
        self.validate_production_variants(production_variants)
        self.endpoint_configs[endpoint_config_name] = config
        return config

    def create_endpoint(self, endpoint_name: str, endpoint_config_name: str, tags: Tags) -> EmbeddedEndpoint:
        """CreateEndpoint, which here returns when the endpoint is InService or Failed."""
        self._refuse_existing("endpoint", endpoint_name, self.endpoints)
        self.describe_endpoint_config(endpoint_config_name)
        endpoint = EmbeddedEndpoint(
            self.endpoint_configs[endpoint_config_name],
            name=endpoint_name,
            account_id=self.account_id,
            region=self.region_name,
            tags=tags,
        )
        self.endpoints[endpoint_name] = endpoint
        try:
            self._serve(self._deployed(endpoint_name, endpoint_config_name))
        except Exception as error:
            endpoint.settle("Failed", _told(error))
        else:
            endpoint.settle("InService")
        return endpoint

    def update_endpoint(
        self, endpoint_name: str, endpoint_config_name: str, *, retain_counts: bool = False
    ) -> EmbeddedEndpoint:
        """UpdateEndpoint, which here returns when it is over: on failure the old configuration goes on."""
        endpoint = self._settled(endpoint_name)
        self.describe_endpoint_config(endpoint_config_name)
        endpoint.endpoint_status = "Updating"
        try:
            self._serve(self._deployed(endpoint_name, endpoint_config_name))
        except Exception as error:
            endpoint.settle("InService", _told(error))
        else:
            endpoint.take_over(self.endpoint_configs[endpoint_config_name], retain_counts=retain_counts)
            endpoint.settle("InService")
        return endpoint

    def delete_endpoint(self, endpoint_name: str) -> None:
        """DeleteEndpoint, which here returns when nothing is served any more."""
        endpoint = self._settled(endpoint_name)
        endpoint.endpoint_status = "Deleting"
        with handed_over():
            running.current().host.remove(endpoint_name)
        super().delete_endpoint(endpoint_name)

    def _deployed(self, endpoint_name: str, config_name: str) -> DeployedEndpoint:
        return deployed_endpoint(endpoint_name, self.endpoint_configs[config_name], self._models)

    @staticmethod
    def _serve(endpoint: DeployedEndpoint) -> None:
        with handed_over():
            running.current().host.serve(endpoint)

    def _settled(self, endpoint_name: str) -> EmbeddedEndpoint:
        self.describe_endpoint(endpoint_name)
        endpoint = cast(EmbeddedEndpoint, self.endpoints[endpoint_name])
        if endpoint.in_progress:
            raise ValidationError(f'Cannot update in-progress endpoint "{endpoint.arn}".')
        return endpoint

    def _refuse_existing(self, kind: str, name: str, existing: dict[str, Any]) -> None:
        if name in existing:
            arn = arn_formatter(kind, name, self.account_id, self.region_name)
            raise ValidationError(f'Cannot create already existing {kind} "{arn}".')


def _told(error: Exception) -> str:
    if not is_said(error):
        log.exception("the host failed")
    return reason_of(error)
