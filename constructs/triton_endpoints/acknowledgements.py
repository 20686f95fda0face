"""The one place where a finding of cdk-nag is acknowledged, each kind with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam


@dataclass(frozen=True)
class Wildcard:
    """Resources of one form that may be granted with some actions, and why."""

    form: str
    actions: frozenset[str]
    reason: str


WILDCARDS = (
    Wildcard(
        r"\*",
        frozenset({"ecr:GetAuthorizationToken", "cloudwatch:PutMetricData"}),
        "these two know no resources; metrics are held to the endpoint's own namespace by a condition",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/endpoints/[^/]+/\*",
        frozenset({"s3:GetObject"}),
        "the endpoint's own archives: the new one, and the old one that still scales out during a rollout",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:[^*]+:\*",
        frozenset(
            {"logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"}
        ),
        "the streams of the endpoint's own log groups, which are named by instance",
    ),
)


def acknowledge_wildcards(policy: iam.Policy) -> None:
    """Acknowledge the wildcard resources of a policy that are meant; any other stays a finding."""
    granted: dict[str, set[str]] = {}
    for statement in Stack.of(policy).resolve(policy.document)["Statement"]:
        for resource in _listed(statement["Resource"]):
            granted.setdefault(resource, set()).update(_listed(statement["Action"]))
    for resource, actions in sorted(granted.items()):
        for wildcard in WILDCARDS:
            if re.fullmatch(wildcard.form, resource) and actions <= wildcard.actions:
                finding = f"AwsSolutions-IAM5[Resource::{resource}]"
                Validations.of(policy).acknowledge(Acknowledgment(id=finding, reason=wildcard.reason))


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
