"""The one place where a finding of cdk-nag is acknowledged, each kind with its reason."""

from __future__ import annotations

import re

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam

WILDCARDS = {
    r"\*": (
        "ecr:GetAuthorizationToken and cloudwatch:PutMetricData know no resources;"
        " the latter is held to the endpoint's own namespace by a condition"
    ),
    r"arn:[^:]+:s3:::[^/]+/endpoints/[^/]+/\*": (
        "the endpoint's own archives: the new one, and the old one that still scales out during a rollout"
    ),
    r"arn:[^:]+:logs:[^:]+:\d+:log-group:[^*]+:\*": (
        "the streams of the endpoint's own log groups, which are named by instance"
    ),
}


def acknowledge_wildcards(policy: iam.Policy) -> None:
    """Acknowledge the wildcard resources of a policy that are meant; any other stays a finding."""
    statements = Stack.of(policy).resolve(policy.document)["Statement"]
    listed = [statement["Resource"] for statement in statements]
    resources = {item for value in listed for item in (value if isinstance(value, list) else [value])}
    for resource in sorted(resources):
        reason = next((text for form, text in WILDCARDS.items() if re.fullmatch(form, resource)), None)
        if reason is not None:
            finding = f"AwsSolutions-IAM5[Resource::{resource}]"
            Validations.of(policy).acknowledge(Acknowledgment(id=finding, reason=reason))
