"""Endpoints whose variants are registered with Application Auto Scaling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moto.applicationautoscaling.models import ApplicationAutoscalingBackend
from moto.sagemaker.exceptions import ValidationError

from fleet_emulator.autoscaling.variants import INSTANCE_COUNT, NAMESPACE, registered_variants, resource_id_of

Variants = Sequence[Mapping[str, Any]]


def require_scalable_variant(
    endpoint_name: str, current: Variants, next_variants: Variants, scaling: ApplicationAutoscalingBackend
) -> None:
    """Refuse a configuration without a registered variant, or with another instance type for it.

    Source: SageMaker developer guide, endpoint-scaling-update.html.

    Raises:
        ValidationError: its words are from memory; no quotation of them was found.
    """
    target_names = set(registered_variants(scaling, endpoint_name))
    types = {variant["VariantName"]: variant.get("InstanceType") for variant in next_variants}
    names = [
        variant["VariantName"]
        for variant in current
        if variant["VariantName"] in target_names
        and (
            variant["VariantName"] not in types
            or types[variant["VariantName"]] != variant.get("InstanceType")
        )
    ]
    if names:
        raise ValidationError(
            f'The variant(s) "[{", ".join(names)}]" must be deregistered as scalable target(s) with AWS '
            "Application Auto Scaling before they can be removed or have their instance type updated."
        )


def deregister_variants(endpoint_name: str, scaling: ApplicationAutoscalingBackend) -> None:
    """Deregister an endpoint's variants, as SageMaker does when it deletes the endpoint.

    Source: SageMaker developer guide, endpoint-delete-with-scaling.html.
    """
    for variant_name in list(registered_variants(scaling, endpoint_name)):
        resource_id = resource_id_of(endpoint_name, variant_name)
        scaling.deregister_scalable_target(NAMESPACE, resource_id, INSTANCE_COUNT)
