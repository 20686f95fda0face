"""What CloudFormation asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Request:
    """The properties of `Custom::EndpointLogs`.

    Attributes:
        names: the log groups.
        days: for how long they keep what is logged.
        key: ARN of the KMS key that encrypts it, empty for CloudWatch's own.
        former_key: the one that they had from us before.
        tags: what the groups are tagged with.
        former_tags: keys that they were tagged with before, and are no more.
        arns: what ARNs of log groups begin with, in the stack's account and region.
    """

    names: tuple[str, ...]
    days: int
    key: str
    former_key: str
    tags: Mapping[str, str]
    former_tags: tuple[str, ...]
    arns: str

    @classmethod
    def of(cls, event: Mapping[str, Any]) -> Self:
        """The request of an event; properties that the template leaves out are a KeyError."""
        properties, old = event["ResourceProperties"], event.get("OldResourceProperties", {})
        tags = properties["Tags"]
        _, partition, _, region, account, _ = event["StackId"].split(":", 5)
        return cls(
            names=tuple(properties["LogGroups"]),
            days=int(properties["RetentionInDays"]),
            key=properties.get("KmsKey", ""),
            former_key=old.get("KmsKey", ""),
            tags=tags,
            former_tags=tuple(sorted(old.get("Tags", {}).keys() - tags.keys())),
            arns=f"arn:{partition}:logs:{region}:{account}:log-group",
        )
