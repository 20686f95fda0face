"""A variant, and the instance types on which SageMaker runs it."""

from __future__ import annotations

from typing import Any, NamedTuple

from botocore.exceptions import ClientError

UNKNOWN = "an unknown instance type"


class Variant(NamedTuple):
    """A variant of an endpoint."""

    endpoint: str
    name: str

    def __str__(self) -> str:
        return f"variant {self.name} of endpoint {self.endpoint}"


def instance_types(sagemaker: Any, variant: Variant) -> set[str]:
    """What the variant runs on; while an update goes on, also what it is moved to; without endpoint nothing.

    A configuration that was deleted, or that lacks the variant or its type, counts as another type: SageMaker
    itself does not see the type then (source: SageMaker API reference, DeleteEndpointConfig).
    """
    endpoint = _described(sagemaker.describe_endpoint, EndpointName=variant.endpoint)
    if endpoint is None:
        return set()
    configs = {endpoint["EndpointConfigName"]}
    if "PendingDeploymentSummary" in endpoint:
        configs.add(endpoint["PendingDeploymentSummary"]["EndpointConfigName"])
    return {_instance_type(sagemaker, config, variant.name) for config in configs}


def _instance_type(sagemaker: Any, config_name: str, variant_name: str) -> str:
    config = _described(sagemaker.describe_endpoint_config, EndpointConfigName=config_name)
    variants = config["ProductionVariants"] if config else []
    types = (each.get("InstanceType") for each in variants if each["VariantName"] == variant_name)
    return next(types, None) or UNKNOWN


def _described(describe: Any, **name: str) -> dict[str, Any] | None:
    """What is described; SageMaker says by words alone that there is no such thing."""
    try:
        found: dict[str, Any] = describe(**name)
    except ClientError as error:
        if "could not find" in error.response["Error"].get("Message", "").lower():
            return None
        raise
    return found
