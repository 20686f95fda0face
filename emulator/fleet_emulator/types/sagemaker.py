"""AWS::SageMaker: models and configurations are replaced by a change, endpoints are updated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.models import sagemaker_backends

from fleet_emulator.failures import reason_of
from fleet_emulator.hosting import HostingError
from fleet_emulator.sagemaker.backend import EmbeddedSageMaker
from fleet_emulator.sagemaker.constraints import as_shape
from fleet_emulator.sagemaker.deployment import Retention
from fleet_emulator.types.resource import Declaration, Resource, UnfinishedError


def _backend(declared: Declaration) -> EmbeddedSageMaker:
    return cast(EmbeddedSageMaker, sagemaker_backends[declared.account_id][declared.region])


def _variants(properties: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Variants as the API takes them."""
    variants: list[dict[str, Any]] = as_shape("ProductionVariantList", properties.get(name, []))
    return variants


class Model:
    """`Ref` is the model's ARN; data that is not in S3 is refused."""

    def create(self, declared: Declaration) -> Resource:
        """Create the model under its own name or a generated one."""
        properties = declared.properties
        model = _backend(declared).create_model(
            model_name=properties.get("ModelName", declared.generated_name()),
            execution_role_arn=properties.get("ExecutionRoleArn", ""),
            primary_container=properties.get("PrimaryContainer"),
            vpc_config=properties.get("VpcConfig"),
            containers=properties.get("Containers"),
            tags=properties.get("Tags"),
        )
        model.enable_network_isolation = properties.get("EnableNetworkIsolation") in (True, "true")
        return Resource(model.arn, {"ModelName": model.model_name})

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """By every change but of its tags."""
        return declared.changed(before) != {"Tags"}

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Set the tags."""
        name = resource.get_cfn_attribute("ModelName")
        _backend(declared).describe_model(name).tags = declared.properties.get("Tags", [])
        return resource

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the model."""
        _backend(declared).delete_model(resource.get_cfn_attribute("ModelName"))


class EndpointConfig:
    """`Ref` is the configuration's ARN."""

    def create(self, declared: Declaration) -> Resource:
        """Create the configuration under its own name or a generated one."""
        properties = declared.properties
        config = _backend(declared).create_endpoint_config(
            endpoint_config_name=properties.get("EndpointConfigName", declared.generated_name()),
            production_variants=_variants(properties, "ProductionVariants"),
            shadow_production_variants=_variants(properties, "ShadowProductionVariants"),
            data_capture_config=properties.get("DataCaptureConfig", {}),
            async_inference_config=properties.get("AsyncInferenceConfig", {}),
            tags=properties.get("Tags", []),
            kms_key_id=properties.get("KmsKeyId", ""),
            metrics_config=as_shape("MetricsConfig", properties.get("MetricsConfig")),
        )
        return Resource(config.endpoint_config_arn, {"EndpointConfigName": config.endpoint_config_name})

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """By every change but of its tags."""
        return declared.changed(before) != {"Tags"}

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Set the tags."""
        name = resource.get_cfn_attribute("EndpointConfigName")
        _backend(declared).endpoint_configs[name].tags = declared.properties.get("Tags", [])
        return resource

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the configuration."""
        _backend(declared).delete_endpoint_config(resource.get_cfn_attribute("EndpointConfigName"))


class Endpoint:
    """`Ref` is the endpoint's ARN; an update is SageMaker's UpdateEndpoint."""

    def create(self, declared: Declaration) -> Resource:
        """Create the endpoint and wait until it answers; one that fails is deleted again.

        What an update retains means nothing yet: CreateEndpoint has no such members.
        """
        name = declared.properties.get("EndpointName", declared.generated_name())
        endpoint = _backend(declared).create_endpoint(
            name,
            declared.properties["EndpointConfigName"],
            declared.properties.get("Tags", []),
            declared.properties.get("DeploymentConfig"),
        )
        if endpoint.failure_reason is not None:
            _backend(declared).delete_endpoint(name)
            raise HostingError(endpoint.failure_reason)
        return Resource(endpoint.arn, {"EndpointName": name})

    def replaces(self, before: Declaration, declared: Declaration) -> bool:
        """When it has another name."""
        return "EndpointName" in declared.changed(before)

    def update(self, resource: Resource, before: Declaration, declared: Declaration) -> Resource:
        """Serve the configuration under the same name; on failure the old one stays.

        Whatever changes but tags is an UpdateEndpoint, which SageMaker refuses where the configuration stays.
        So it may refuse the rollback of an update that it has rolled back itself: CloudFormation asks for the
        configuration from before, which is in use again.

        Raises:
            UnfinishedError: the update failed; a rollback updates the endpoint once more.
        """
        name = resource.get_cfn_attribute("EndpointName")
        if declared.changed(before) != {"Tags"}:
            try:
                self._update_endpoint(name, declared)
            except (HostingError, ValidationError) as error:
                raise UnfinishedError(reason_of(error), resource) from error
        _backend(declared).endpoints[name].tags = declared.properties.get("Tags", [])
        return resource

    @staticmethod
    def _update_endpoint(name: str, declared: Declaration) -> None:
        endpoint = _backend(declared).update_endpoint(
            name,
            declared.properties["EndpointConfigName"],
            retention=Retention.of(
                declared.properties.get("RetainAllVariantProperties"),
                declared.properties.get("ExcludeRetainedVariantProperties"),
            ),
            deployment=declared.properties.get("DeploymentConfig"),
            retain_deployment=declared.properties.get("RetainDeploymentConfig") in (True, "true"),
        )
        if endpoint.failure_reason is not None:
            raise HostingError(endpoint.failure_reason)

    def delete(self, resource: Resource, declared: Declaration) -> None:
        """Delete the endpoint."""
        _backend(declared).delete_endpoint(resource.get_cfn_attribute("EndpointName"))
