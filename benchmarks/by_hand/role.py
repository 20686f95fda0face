"""The role that SageMaker and the container act in."""

from __future__ import annotations

from typing import Any, TypeAlias

from aws_cdk import Acknowledgment, Stack, Validations
from aws_cdk import aws_iam as iam

from by_hand.values import Endpoint

Json: TypeAlias = dict[str, Any]


def execution_role(stack: Stack, values: Endpoint) -> tuple[iam.CfnRole, iam.CfnPolicy]:
    """The role with its one policy, whose wildcards are acknowledged."""
    role = iam.CfnRole(
        stack,
        "Role",
        assume_role_policy_document=document(
            {
                "Action": "sts:AssumeRole",
                "Condition": {"StringEquals": {"aws:SourceAccount": values.account}},
                "Effect": "Allow",
                "Principal": {"Service": "sagemaker.amazonaws.com"},
            }
        ),
        description=f"Execution role of the Triton endpoint {values.name}",
    )
    archives, streams = f"{_bucket(values)}/endpoints/{values.name}/*", _log_groups(values)
    policy = iam.CfnPolicy(
        stack,
        "Policy",
        policy_name="Policy",
        roles=[role.ref],
        policy_document=document(*_statements(values, archives, streams)),
    )
    meant = ["*", archives, *streams[1::2]]
    Validations.of(policy).acknowledge(
        *(Acknowledgment(id=f"AwsSolutions-IAM5[Resource::{each}]", reason="meant") for each in meant)
    )
    return role, policy


def document(*statements: Json) -> Json:
    """A policy document."""
    return {"Statement": list(statements), "Version": "2012-10-17"}


def _bucket(values: Endpoint) -> str:
    return f"arn:aws:s3:::{values.bucket}"


def _log_groups(values: Endpoint) -> list[str]:
    """Each log group, followed by its streams."""
    arns = [f"arn:aws:logs:{values.region}:{values.account}:log-group:{group}" for group in values.log_groups]
    return [arn for group in arns for arn in (group, f"{group}:*")]


def _statements(values: Endpoint, archives: str, log_groups: list[str]) -> list[Json]:
    bucket, prefix = _bucket(values), {"s3:prefix": [f"endpoints/{values.name}/*"]}
    pull = ["ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"]
    write = ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"]
    statements = [
        allow("ReadArchives", "s3:GetObject", archives),
        allow("ListArchives", "s3:ListBucket", bucket, {"StringLike": prefix}),
        allow("LogInToRegistry", "ecr:GetAuthorizationToken", "*"),
        allow("PullImage", pull, values.image_arn),
        allow("WriteLogs", write, log_groups),
    ]
    if values.namespace:
        condition = {"StringEquals": {"cloudwatch:namespace": values.namespace}}
        statements.append(allow("PublishTritonMetrics", "cloudwatch:PutMetricData", "*", condition))
    return statements


def allow(
    sid: str, action: str | list[str], resource: str | list[str], condition: Json | None = None
) -> Json:
    """One of its statements."""
    statement: Json = {"Sid": sid, "Effect": "Allow", "Action": action, "Resource": resource}
    return statement | ({"Condition": condition} if condition else {})
