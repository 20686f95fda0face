"""The one place where a finding of cdk-nag is acknowledged, each kind with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import Acknowledgment, CfnElement, Stack, Validations
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns


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


def acknowledge_wildcards(
    policy: iam.CfnPolicy, granted: Iterable[tuple[Sequence[str], Sequence[str]]]
) -> None:
    """Acknowledge the wildcard resources of a policy that are meant; any other stays a finding.

    Args:
        policy: The policy.
        granted: The actions and the resources of each of its statements.
    """
    actions_on: dict[str, set[str]] = {}
    for actions, resources in granted:
        for resource in resources:
            actions_on.setdefault(resource, set()).update(actions)
    meant = [
        Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{resource}]", reason=wildcard.reason)
        for resource, actions in sorted(actions_on.items())
        for wildcard in WILDCARDS
        if re.fullmatch(wildcard.form, resource) and actions <= wildcard.actions
    ]
    if meant:
        Validations.of(policy).acknowledge(*meant)


def acknowledge_invocation(caller: iam.Role, function: lambda_.Function) -> None:
    """Acknowledge that the custom resource framework may invoke every version of the one function."""
    logical_id = Stack.of(function).get_logical_id(cast(CfnElement, function.node.default_child))
    Validations.of(caller).acknowledge(
        Acknowledgment(
            id=f"AwsSolutions-IAM5[Resource::<{logical_id}.Arn>:*]",
            reason="versions of the one function that the framework is there to invoke",
        )
    )


def acknowledge_plain_topic(topic: sns.CfnTopic) -> None:
    """Acknowledge that a topic of alarms has no key of its own."""
    reason = (
        "alarms cannot publish to a topic with AWS's managed key, and a key of one's own costs money and a"
        " policy; what is published names thresholds, and no data of calls"
    )
    Validations.of(topic).acknowledge(Acknowledgment(id="AwsSolutions-SNS2", reason=reason))
