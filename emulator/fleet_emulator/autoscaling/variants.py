"""The variants of SageMaker's endpoints as scalable targets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from moto.applicationautoscaling.models import ApplicationAutoscalingBackend
from moto.sagemaker.models import SageMakerModelBackend

from fleet_emulator.autoscaling.targets import InvalidError

NAMESPACE, INSTANCE_COUNT = "sagemaker", "sagemaker:variant:DesiredInstanceCount"

_RESOURCE_ID = re.compile(r"endpoint/([^/]+)/variant/([^/]+)")


def registered_variants(scaling: ApplicationAutoscalingBackend, endpoint_name: str) -> Iterator[str]:
    """The names of an endpoint's variants whose instances are counted by a registered target."""
    for resource_id in scaling.targets.get(INSTANCE_COUNT, {}):
        match = _RESOURCE_ID.fullmatch(resource_id)
        if match and match[1] == endpoint_name:
            yield match[2]


def resource_id_of(endpoint_name: str, variant_name: str) -> str:
    """The name of a variant as a target."""
    return f"endpoint/{endpoint_name}/variant/{variant_name}"


def service_role(namespace: str, partition: str, account_id: str) -> Any:
    """The ARN of the service-linked role that AWS creates; only that of SageMaker is needed, else None."""
    if namespace != NAMESPACE:
        return None
    return (
        f"arn:{partition}:iam::{account_id}:role/aws-service-role/sagemaker.application-autoscaling.amazonaws.com/"
        "AWSServiceRoleForApplicationAutoScaling_SageMakerEndpoint"
    )


def require_variant(sagemaker: SageMakerModelBackend, resource_id: str) -> None:
    """Refuse a variant that is not served.

    Raises:
        InvalidError: there is no such endpoint or no such variant; only the code is AWS's, not the words.
    """
    match = _RESOURCE_ID.fullmatch(resource_id)
    if match is None:
        raise InvalidError("Unsupported service namespace, resource type or scalable dimension")
    endpoint = sagemaker.endpoints.get(match[1])
    if endpoint is None:
        raise InvalidError(f"SageMaker endpoint doesn't exist: {resource_id}")
    if match[2] not in (variant["VariantName"] for variant in endpoint.production_variants):
        raise InvalidError(f"SageMaker variant doesn't exist: {resource_id}")


def least_capacity(sagemaker: SageMakerModelBackend, resource_id: str) -> int:
    """The smallest MinCapacity of a served variant: 1, and 0 for asynchronous inference.

    Source: SageMaker developer guide, endpoint-auto-scaling-add-policy.html, async-inference-autoscale.html.
    """
    match = _RESOURCE_ID.fullmatch(resource_id)
    endpoint = sagemaker.endpoints.get(match[1]) if match else None
    config = sagemaker.endpoint_configs.get(endpoint.endpoint_config_name) if endpoint else None
    return 0 if config and config.async_inference_config else 1


class ScaledVariant:
    """A served variant whose instances Application Auto Scaling counts."""

    def __init__(self, sagemaker: Any, resource_id: str) -> None:
        """Find the variant, which has to exist."""
        self.resource_id, self._sagemaker = resource_id, sagemaker
        _, self._endpoint, _, self._name = resource_id.split("/")

    @property
    def in_progress(self) -> bool:
        """Whether SageMaker is at work on its endpoint."""
        return bool(self._sagemaker.endpoints[self._endpoint].in_progress)

    @property
    def capacity(self) -> int:
        """The instances that it should have."""
        variants = self._sagemaker.endpoints[self._endpoint].production_variants
        return next(
            int(variant["DesiredInstanceCount"])
            for variant in variants
            if variant["VariantName"] == self._name
        )

    def change(self, capacity: int, on_end: Callable[[], None]) -> None:
        """Have SageMaker change the instances; `ended` is called when they are in service.

        Raises:
            ValidationError: SageMaker refuses.
        """
        settings = [{"VariantName": self._name, "DesiredInstanceCount": capacity}]
        self._sagemaker.update_endpoint_weights_and_capacities(self._endpoint, settings, on_end)
