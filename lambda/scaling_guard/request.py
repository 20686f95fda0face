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
    """The same for a stack's resource all its life, also when its creation is tried again."""
    known: str | None = event.get("PhysicalResourceId")
    return known or f"{event['StackId'].rpartition(':')[2]}/{event['LogicalResourceId']}"
