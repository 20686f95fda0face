"""What CloudFormation asks of the guard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from .variant import Variant


@dataclass(frozen=True, kw_only=True)
class Request:
    """The properties of `Custom::ScalingGuard`.

    Attributes:
        variant: the variant that is guarded.
        instance_type: what it has to run on, such as ml.g5.xlarge.
        step: "before" the endpoint changes or "after" it.
    """

    variant: Variant
    instance_type: str
    step: str

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """The request of an event; properties that the template leaves out are a KeyError."""
        properties = event["ResourceProperties"]
        return cls(
            variant=Variant(properties["EndpointName"], properties["VariantName"]),
            instance_type=properties["InstanceType"],
            step=properties["Step"],
        )


def physical_id(event: Mapping[str, Any]) -> str:
    """A name for the stack's resource as long as its instance type is the same.

    Another name is another resource for CloudFormation: what is left over is deleted when the update is over,
    or its rollback is (source: CloudFormation user guide, custom resources).
    """
    if event["RequestType"] == "Delete":
        return str(event["PhysicalResourceId"])
    stack, properties = event["StackId"].rpartition(":")[2], event["ResourceProperties"]
    return f"{stack}/{event['LogicalResourceId']}/{properties['InstanceType']}"
