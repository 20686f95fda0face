"""The request of CloudFormation to the check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from .sample import Sample


@dataclass(frozen=True, kw_only=True)
class Request:
    """The properties of `Custom::EndpointCheck`.

    Attributes:
        endpoint: The endpoint's name.
        config: The configuration that it has to run.
        warm: Target models that are to be loaded.
        samples: The calls that it has to answer.
    """

    endpoint: str
    config: str
    warm: list[str]
    samples: list[Sample]

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """The request of an event; `Samples` is JSON, as CloudFormation makes text of all numbers."""
        properties = event["ResourceProperties"]
        return cls(
            endpoint=properties["EndpointName"],
            config=properties["EndpointConfigName"],
            warm=list(properties.get("Warm", [])),
            samples=Sample.all_of(properties.get("Samples", "[]")),
        )
