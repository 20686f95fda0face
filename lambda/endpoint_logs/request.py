"""The request of CloudFormation for log groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, kw_only=True)
class Request:
    """The properties of `Custom::EndpointLogs`.

    Attributes:
        names: the log groups.
        days: their retention.
        key: ARN of the KMS key that encrypts them, empty for CloudWatch's own.
        former_key: the key that the fleet gave them before.
        tags: the tags of the groups.
        former_tags: keys of tags that they had before and have to lose.
        arns: the beginning of ARNs of log groups in the stack's account and region.
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
