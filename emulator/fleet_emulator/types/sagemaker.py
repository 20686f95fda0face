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
from fleet_emulator.types.resource import Declaration, Resource, ResourceType, UnfinishedError


def _backend(declaration: Declaration) -> EmbeddedSageMaker:
    return cast(EmbeddedSageMaker, sagemaker_backends[declaration.account_id][declaration.region])


def _variants(properties: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Variants as the API takes them."""
    variants: list[dict[str, Any]] = as_shape("ProductionVariantList", properties.get(name, []))
    return variants


class Model(ResourceType):
    """`Ref` is the model's ARN; data that is not in S3 is refused."""

    def create(self, declaration: Declaration) -> Resource:
        """Create the model under its own name or a generated one."""
        properties = declaration.properties
        model = _backend(declaration).create_model(
            model_name=properties.get("ModelName", declaration.generated_name()),
            execution_role_arn=properties.get("ExecutionRoleArn", ""),
            primary_container=properties.get("PrimaryContainer"),
            vpc_config=properties.get("VpcConfig"),
            containers=properties.get("Containers"),
            tags=properties.get("Tags"),
        )
        model.enable_network_isolation = properties.get("EnableNetworkIsolation") in (True, "true")
        return Resource(model.arn, {"ModelName": model.model_name})

    def replaces(self, before: Declaration, declaration: Declaration) -> bool:
        """By every change but of its tags."""
        return declaration.changed_properties(before) != {"Tags"}

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Set the tags."""
        name = resource.get_cfn_attribute("ModelName")
        _backend(declaration).describe_model(name).tags = declaration.properties.get("Tags", [])
        return resource

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the model."""
        _backend(declaration).delete_model(resource.get_cfn_attribute("ModelName"))


class EndpointConfig(ResourceType):
    """`Ref` is the configuration's ARN."""

    def create(self, declaration: Declaration) -> Resource:
        """Create the configuration under its own name or a generated one."""
        properties = declaration.properties
        config = _backend(declaration).create_endpoint_config(
            endpoint_config_name=properties.get("EndpointConfigName", declaration.generated_name()),
            production_variants=_variants(properties, "ProductionVariants"),
            shadow_production_variants=_variants(properties, "ShadowProductionVariants"),
            data_capture_config=properties.get("DataCaptureConfig", {}),
            async_inference_config=properties.get("AsyncInferenceConfig", {}),
            tags=properties.get("Tags", []),
            kms_key_id=properties.get("KmsKeyId", ""),
            metrics_config=as_shape("MetricsConfig", properties.get("MetricsConfig")),
        )
        return Resource(config.endpoint_config_arn, {"EndpointConfigName": config.endpoint_config_name})

    def replaces(self, before: Declaration, declaration: Declaration) -> bool:
        """By every change but of its tags."""
        return declaration.changed_properties(before) != {"Tags"}

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Set the tags."""
        name = resource.get_cfn_attribute("EndpointConfigName")
        _backend(declaration).endpoint_configs[name].tags = declaration.properties.get("Tags", [])
        return resource

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the configuration."""
        _backend(declaration).delete_endpoint_config(resource.get_cfn_attribute("EndpointConfigName"))


class Endpoint(ResourceType):
    """`Ref` is the endpoint's ARN; an update is SageMaker's UpdateEndpoint."""

    replacing_properties = frozenset({"EndpointName"})

    def create(self, declaration: Declaration) -> Resource:
        """Create the endpoint and wait until it answers; one that fails is deleted again.

        What an update retains means nothing yet: CreateEndpoint has no such members.
        """
        name = declaration.properties.get("EndpointName", declaration.generated_name())
        endpoint = _backend(declaration).create_endpoint(
            name,
            declaration.properties["EndpointConfigName"],
            declaration.properties.get("Tags", []),
            declaration.properties.get("DeploymentConfig"),
        )
        if endpoint.failure_reason is not None:
            _backend(declaration).delete_endpoint(name)
            raise HostingError(endpoint.failure_reason)
        return Resource(endpoint.arn, {"EndpointName": name})

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Serve the configuration under the same name; on failure the old one stays.

        Whatever changes but tags is an UpdateEndpoint, which SageMaker refuses where the configuration stays.
        So it may refuse the rollback of an update that it has rolled back itself: CloudFormation asks for the
        configuration from before, which is in use again.

        Raises:
            UnfinishedError: the update failed; a rollback updates the endpoint once more.
        """
        name = resource.get_cfn_attribute("EndpointName")
        if declaration.changed_properties(before) != {"Tags"}:
            try:
                self._update_endpoint(name, declaration)
            except (HostingError, ValidationError) as error:
                raise UnfinishedError(reason_of(error), resource) from error
        _backend(declaration).endpoints[name].tags = declaration.properties.get("Tags", [])
        return resource

    @staticmethod
    def _update_endpoint(name: str, declaration: Declaration) -> None:
        endpoint = _backend(declaration).update_endpoint(
            name,
            declaration.properties["EndpointConfigName"],
            retention=Retention.of(
                declaration.properties.get("RetainAllVariantProperties"),
                declaration.properties.get("ExcludeRetainedVariantProperties"),
            ),
            deployment=declaration.properties.get("DeploymentConfig"),
            retain_deployment=declaration.properties.get("RetainDeploymentConfig") in (True, "true"),
        )
        if endpoint.failure_reason is not None:
            raise HostingError(endpoint.failure_reason)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the endpoint."""
        _backend(declaration).delete_endpoint(resource.get_cfn_attribute("EndpointName"))
