"""Where findings of cdk-nag and checkov are acknowledged, each with its reason, and listed wildcards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from aws_cdk import Acknowledgment, CfnElement, Stack, Validations
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk.custom_resources import Provider
from constructs import IConstruct

from triton_endpoints.wildcards import WILDCARDS, Wildcard


@dataclass(frozen=True)
class Checkov:
    """A check that resources of one form, `TYPE.LOGICAL_ID`, may fail, and why."""

    check: str
    form: str
    reason: str


_PLAIN_TOPIC = (
    "alarms cannot publish to a topic with AWS's managed key, and a key of one's own costs money and a"
    " policy; what is published names thresholds, and no data of calls"
)
_FUNCTIONS = r"AWS::Lambda::Function\.(EndpointCheck|EndpointLogs|ScalingGuard)\w+"

CHECKOV = (
    Checkov("CKV_AWS_26", r"AWS::SNS::Topic\.AlarmTopics\w+", _PLAIN_TOPIC),
    Checkov(
        "CKV_AWS_18",
        r"AWS::S3::Bucket\.ArtifactsAccessLogs\w+",
        "it is the bucket of access logs: logs of its own would grow without end",
    ),
    Checkov(
        "CKV_AWS_21",
        r"AWS::S3::Bucket\.ArtifactsAccessLogs\w+",
        "S3 writes each log once and under a name of its own, and they expire",
    ),
    Checkov(
        "CKV_AWS_136",
        r"AWS::ECR::Repository\.\w+",
        "ECR encrypts every repository by a key of its own; a KMS key is an account's to give",
    ),
    Checkov(
        "CKV_AWS_115",
        _FUNCTIONS,
        "deployments alone call it; a reservation would be taken from what the account has for others",
    ),
    Checkov(
        "CKV_AWS_116",
        _FUNCTIONS,
        "CloudFormation waits for its answer and fails the deployment without one; nobody would read a queue",
    ),
    Checkov(
        "CKV_AWS_117",
        _FUNCTIONS,
        "it calls AWS alone, with its role; in a VPC it could reach that by further endpoints only",
    ),
    Checkov(
        "CKV_AWS_158",
        r"AWS::Logs::LogGroup\.\w+",
        "CloudWatch Logs encrypts every group by a key of its own; a KMS key is an account's to give",
    ),
    Checkov(
        "CKV_AWS_173",
        _FUNCTIONS,
        "Lambda encrypts them by its own key, and they hold no secret: a bucket's name, a function's ARN",
    ),
    Checkov(
        "CKV_AWS_370",
        r"AWS::SageMaker::Model\.\w+",
        "in isolation the container has no credentials and publishes no metrics: a spec asks for it by name",
    ),
)
"""Compared with what checkov finds by `tests/synth/test_checkov.py`, in both directions."""


def acknowledge_wildcards(
    policy: iam.CfnPolicy,
    grants: Iterable[tuple[Sequence[str], Sequence[str]]],
    further: Sequence[Wildcard] = (),
) -> None:
    """Acknowledge the wildcard resources of a policy that are meant; any other stays a finding.

    Args:
        policy: The policy.
        grants: The actions and the resources of each of its statements.
        further: What is meant beside WILDCARDS in this policy.
    """
    meanings = (*WILDCARDS, *further)
    reasons: dict[str, list[str | None]] = {}
    for actions, resources in grants:
        for resource in (flat(policy, resource) for resource in resources):
            reasons.setdefault(resource, []).append(_reason(resource, actions, meanings))
    # cdk-nag goes by resources: one statement that is not meant leaves all on its resource unacknowledged.
    acknowledgments = [
        Acknowledgment(
            id=f"AwsSolutions-IAM5[Resource::{resource}]", reason="; ".join(dict.fromkeys(map(str, texts)))
        )
        for resource, texts in sorted(reasons.items())
        if None not in texts
    ]
    if acknowledgments:
        Validations.of(policy).acknowledge(*acknowledgments)


def flat(policy: iam.CfnPolicy, resource: str) -> str:
    """A resource as cdk-nag writes it, with `<LOGICAL_ID.ATTRIBUTE>` for what CloudFormation decides."""
    return _flat_value(Stack.of(policy).resolve(resource)) if "{Token[" in resource else resource


def _flat_value(value: object) -> str:
    match value:
        case {"Fn::Join": [str(between), list(parts)]}:
            return between.join(map(_flat_value, parts))
        case {"Fn::GetAtt": [resource, attribute]}:
            return f"<{resource}.{attribute}>"
        case {"Ref": name}:
            return f"<{name}>"
    return str(value)


def _reason(resource: str, actions: Sequence[str], meanings: Iterable[Wildcard]) -> str | None:
    literal = resource.replace("<AWS::Region>", "region").replace("<AWS::AccountId>", "0")
    for wildcard in meanings:
        if re.fullmatch(wildcard.form, literal) and wildcard.actions.issuperset(actions):
            return wildcard.reason
    return None


def acknowledge_invocation(caller: IConstruct, *functions: lambda_.Function) -> None:
    """Acknowledge that the custom resource framework may invoke every version of its functions."""
    Validations.of(caller).acknowledge(
        *(
            Acknowledgment(
                id=f"AwsSolutions-IAM5[Resource::<{_logical_id(function)}.Arn>:*]",
                reason="versions of the one function that the framework invokes",
            )
            for function in functions
        )
    )


def acknowledge_waiter(provider: Provider) -> None:
    """Acknowledge what the framework's state machine has of the CDK: it asks until a resource is complete."""
    waiter = provider.node.find_child("waiter-state-machine")
    functions = [
        cast(lambda_.Function, provider.node.find_child(f"framework-{name}"))
        for name in ("isComplete", "onTimeout")
    ]
    acknowledge_invocation(waiter, *functions)
    Validations.of(waiter).acknowledge(
        Acknowledgment(
            id="AwsSolutions-SF1",
            reason="a log of its own needs actions on all logs of the account; each look has its log",
        ),
        Acknowledgment(
            id="AwsSolutions-SF2",
            reason="one state that asks one function again, which logs each look: nothing is left to trace",
        ),
    )


def _logical_id(function: lambda_.Function) -> str:
    return Stack.of(function).get_logical_id(cast(CfnElement, function.node.default_child))


def acknowledge_plain_topic(topic: sns.CfnTopic) -> None:
    """Acknowledge that a topic of alarms has no key of its own."""
    Validations.of(topic).acknowledge(Acknowledgment(id="AwsSolutions-SNS2", reason=_PLAIN_TOPIC))


def acknowledge_docker(project: codebuild.CfnProject) -> None:
    """Acknowledge that images are built by a Docker daemon, for which a build is privileged."""
    Validations.of(project).acknowledge(
        Acknowledgment(
            id="AwsSolutions-CB3",
            reason="Docker needs a privileged build; its role writes to one repository, and records",
        )
    )
