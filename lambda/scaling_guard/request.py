"""The request of CloudFormation to the guard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Self

from .variant import Variant

POLICIES_OF_EARLIER_RELEASES = frozenset(
    {"ConcurrentRequests", "CpuUtilization", "GpuUtilization", "InvocationsPerInstance"}
)
"""The names of scaling policies in stacks whose guard names neither policies nor a configuration."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The properties of `Custom::ScalingGuard`.

    Attributes:
        variant: the variant that is guarded.
        instance_type: what it has to run on, such as ml.g5.xlarge.
        step: "before" the endpoint changes or "after" it.
        config: the endpoint configuration that it has to run; empty in stacks of earlier releases.
        policies: names of the scaling policies that the stack has when the update is over.
        former_policies: those that it had before.
        former_config: the configuration that it had to run before; empty like `config`.
        former_type: the instance type before.
        cleanup_looks: how many looks the deletion of the stack waits when the endpoint is gone.
    """

    variant: Variant
    instance_type: str
    step: str
    config: str
    policies: frozenset[str]
    former_policies: frozenset[str]
    former_config: str
    former_type: str
    cleanup_looks: int

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """The request of an event; properties that every template has are a KeyError when they are absent."""
        properties = event["ResourceProperties"]
        old_properties = event.get("OldResourceProperties") or {}
        return cls(
            variant=Variant(properties["EndpointName"], properties["VariantName"]),
            instance_type=properties["InstanceType"],
            step=properties["Step"],
            config=properties.get("EndpointConfigName", ""),
            policies=_policies(properties),
            former_policies=_policies(old_properties) if old_properties else frozenset(),
            former_config=old_properties.get("EndpointConfigName", ""),
            former_type=old_properties.get("InstanceType", ""),
            cleanup_looks=int(properties.get("CleanupLooks", 0)),
        )

    @property
    def moves_endpoint(self) -> bool:
        """Whether the endpoint gets another configuration than it had."""
        goal = self.config or self.instance_type
        return goal != (self.former_config or self.former_type)

    @property
    def obsolete_policies(self) -> frozenset[str]:
        """Policies that the stack has no more, and that CloudFormation deletes only in its clean-up."""
        return self.former_policies - self.policies

    @property
    def new_policies(self) -> frozenset[str]:
        """Policies that CloudFormation makes in this update; after a rollback they exist already."""
        return self.policies - self.former_policies


def physical_id(event: Mapping[str, Any]) -> str:
    """A name for the stack's resource as long as its configuration and its policies are the same.

    Another name is another resource for CloudFormation: what is left over is deleted when the update is over,
    or its rollback is (source: CloudFormation user guide, custom resources).
    """
    if event["RequestType"] == "Delete":
        return str(event["PhysicalResourceId"])
    stack, properties = event["StackId"].rpartition(":")[2], event["ResourceProperties"]
    return f"{stack}/{event['LogicalResourceId']}/{_goal(properties)}"


def _goal(properties: Mapping[str, Any]) -> str:
    if "EndpointConfigName" not in properties:
        return str(properties["InstanceType"])
    names = "\n".join(sorted(_policies(properties)))
    return f"{properties['EndpointConfigName']}/{sha256(names.encode()).hexdigest()[:8]}"


def _policies(properties: Mapping[str, Any]) -> frozenset[str]:
    """The policies' names, which the CDK leaves out where there are none."""
    if "EndpointConfigName" not in properties:
        return POLICIES_OF_EARLIER_RELEASES
    return frozenset(properties.get("Policies", []))
