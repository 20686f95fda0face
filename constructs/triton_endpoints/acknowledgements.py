"""The one place where a finding of cdk-nag is acknowledged, each kind with its reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from aws_cdk import Acknowledgment, CfnElement, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_


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
    Wildcard(
        r"\*",
        frozenset(
            {
                "application-autoscaling:DescribeScalableTargets",
                "application-autoscaling:DescribeScalingPolicies",
                "application-autoscaling:DescribeScheduledActions",
                "cloudwatch:DescribeAlarms",
            }
        ),
        "what describes scaling knows no resources, and Application Auto Scaling asks for all alarms",
    ),
    Wildcard(
        r"arn:[^:]+:application-autoscaling:[^:]+:\d+:scalable-target/\*",
        frozenset(
            {
                "application-autoscaling:DeregisterScalableTarget",
                "application-autoscaling:PutScalingPolicy",
                "application-autoscaling:PutScheduledAction",
                "application-autoscaling:RegisterScalableTarget",
            }
        ),
        "AWS makes the ARNs of targets, and the guard serves all endpoints of the environment",
    ),
    Wildcard(
        r"arn:[^:]+:cloudwatch:[^:]+:\d+:alarm:TargetTracking-\*",
        frozenset({"cloudwatch:DeleteAlarms", "cloudwatch:PutMetricAlarm"}),
        "Application Auto Scaling names these alarms",
    ),
    Wildcard(
        r"arn:[^:]+:sagemaker:[^:]+:\d+:endpoint(-config)?/\*",
        frozenset(
            {
                "sagemaker:DescribeEndpoint",
                "sagemaker:DescribeEndpointConfig",
                "sagemaker:UpdateEndpointWeightsAndCapacities",
            }
        ),
        "the guard serves all endpoints of the environment, and CloudFormation names configurations",
    ),
    Wildcard(
        r"arn:[^:]+:cloudformation:[^:]+:\d+:stack/triton-fleet-[^*]+-\*",
        frozenset({"cloudformation:DescribeStacks"}),
        "the guard serves all endpoint stacks of the environment",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/scaling-guard/\*",
        frozenset({"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}),
        "scalings that are put aside, one object for each variant of the environment",
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


def acknowledge_invocation(caller: iam.Role, function: lambda_.Function) -> None:
    """Acknowledge that the custom resource framework may invoke every version of the one function."""
    logical_id = Stack.of(function).get_logical_id(cast(CfnElement, function.node.default_child))
    Validations.of(caller).acknowledge(
        Acknowledgment(
            id=f"AwsSolutions-IAM5[Resource::<{logical_id}.Arn>:*]",
            reason="versions of the one function that the framework is there to invoke",
        )
    )


def _listed(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
