"""A variant, its endpoint, and the instance types on which SageMaker runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from botocore.exceptions import ClientError

UNKNOWN = "an unknown instance type"
TRANSITION_STATUSES = frozenset({"Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting"})
"""SageMaker refuses to change an endpoint in these states, and leaves each of them by itself.

Failed, UpdateRollbackFailed and OutOfService last. Source: SageMaker API reference, DescribeEndpoint.
"""


class Variant(NamedTuple):
    """A variant of an endpoint."""

    endpoint: str
    name: str

    def __str__(self) -> str:
        return f"variant {self.name} of endpoint {self.endpoint}"


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """An endpoint as DescribeEndpoint shows it.

    Attributes:
        name: its name.
        status: its EndpointStatus.
        config: the configuration that it runs.
        next_config: the configuration to which an update in progress moves it; empty without one.
    """

    name: str
    status: str
    config: str
    next_config: str

    @classmethod
    def read(cls, sagemaker: Any, name: str) -> Self | None:
        """The endpoint, or None where it does not exist."""
        answer = _describe(sagemaker.describe_endpoint, EndpointName=name)
        if answer is None:
            return None
        return cls(
            name=name,
            status=answer["EndpointStatus"],
            config=answer["EndpointConfigName"],
            next_config=answer.get("PendingDeploymentSummary", {}).get("EndpointConfigName", ""),
        )

    @property
    def is_in_transition(self) -> bool:
        """Whether SageMaker refuses to change it at the moment."""
        return self.status in TRANSITION_STATUSES

    def __str__(self) -> str:
        return f"endpoint {self.name} is {self.status}"

    def runs(self, config: str) -> bool:
        """Whether it runs this configuration and no other; SageMaker writes names in ARNs in lower case."""
        return not self.next_config and self.config.lower() == config.lower()


def instance_types(sagemaker: Any, endpoint: Endpoint, variant: str) -> set[str]:
    """The types that the variant runs on and, while an update is in progress, those that it is moved to."""
    configs = {endpoint.config, endpoint.next_config or endpoint.config}
    return {instance_type(sagemaker, config, variant) for config in configs}


def instance_type(sagemaker: Any, config_name: str, variant_name: str) -> str:
    """The instance type of a configuration's variant, or the list of its pools' types.

    A configuration that was deleted, or that lacks the variant or its type, counts as another type: SageMaker
    itself does not see the type then (source: SageMaker API reference, DeleteEndpointConfig).
    """
    config = _describe(sagemaker.describe_endpoint_config, EndpointConfigName=config_name)
    for variant in config["ProductionVariants"] if config else []:
        if variant["VariantName"] == variant_name:
            pools = ", ".join(pool["InstanceType"] for pool in variant.get("InstancePools", []))
            return variant.get("InstanceType") or pools or UNKNOWN
    return UNKNOWN


def _describe(describe: Any, **name: str) -> dict[str, Any] | None:
    """The answer, or None: SageMaker reports an absence by its message alone."""
    try:
        answer: dict[str, Any] = describe(**name)
    except ClientError as error:
        if "could not find" in error.response["Error"].get("Message", "").lower():
            return None
        raise
    return answer
