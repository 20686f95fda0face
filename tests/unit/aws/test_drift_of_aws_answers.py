"""Answers of AWS in another form than the template's, and what is written back to AWS."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from tests.support.deployment import DEPLOYMENT
from triton_fleet.aws.access import Access
from triton_fleet.aws.drift.declaration import DeclaredResource, DeclaredStack, declared_stack
from triton_fleet.aws.drift.difference import Comparison
from triton_fleet.aws.drift.hosting import definitions, endpoints, variants
from triton_fleet.aws.drift.monitoring import alarms, log_groups
from triton_fleet.aws.drift.scaling import ACTIVE_STATE, scaling
from triton_fleet.awsapi.stack import LiveStack

ARN = "arn:aws:sagemaker:us-east-1:123456789012"
STACK = LiveStack(
    id="arn:aws:cloudformation:us-east-1:123456789012:stack/triton-fleet-dev-Search/1",
    name="triton-fleet-dev-Search",
    status="UPDATE_COMPLETE",
    reason="",
    is_protected=False,
    parameters={"Topic": "arn:aws:sns:us-east-1:123456789012:topic"},
)
DIMENSION = "EndpointConfigName"
TARGET_ID = {
    "ServiceNamespace": "sagemaker",
    "ScalableDimension": "sagemaker:variant:DesiredInstanceCount",
    "ResourceId": "endpoint/search/variant/AllTraffic",
}
TEMPLATE: dict[str, Any] = {
    "Resources": {
        "Model": {"Type": "AWS::SageMaker::Model", "Properties": {}},
        "Config": {
            "Type": "AWS::SageMaker::EndpointConfig",
            "Properties": {
                "ProductionVariants": [
                    {"VariantName": "AllTraffic", "ModelName": {"Fn::GetAtt": ["Model", "ModelName"]}}
                ]
            },
        },
        "Endpoint": {
            "Type": "AWS::SageMaker::Endpoint",
            "Properties": {
                "EndpointName": "Search",
                "EndpointConfigName": {"Fn::GetAtt": ["Config", "EndpointConfigName"]},
            },
        },
        "Alarm": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "AlarmDescription": "caf?",
                "Dimensions": [{"Name": DIMENSION, "Value": {"Fn::GetAtt": ["Config", DIMENSION]}}],
                "EvaluationPeriods": 1,
                "ComparisonOperator": "GreaterThanThreshold",
                "Threshold": 1,
                "AlarmActions": [{"Ref": "Topic"}],
            },
        },
        "Logs": {
            "Type": "Custom::EndpointLogs",
            "Properties": {
                "LogGroups": ["/logs"],
                "RetentionInDays": 30,
                "Tags": {"a": "b"},
                "KmsKey": "key",
            },
        },
    }
}
IDS = {
    "Model": f"{ARN}:model/model-ab",
    "Config": f"{ARN}:endpoint-config/config-cd",
    "Endpoint": f"{ARN}:endpoint/search",
    "Alarm": "alarm",
    "Logs": "logs",
}
"""Physical ids; SageMaker writes the names Model-AB, Config-CD and Search in lower case in ARNs."""
ALARM = {
    **TEMPLATE["Resources"]["Alarm"]["Properties"],
    "AlarmName": "alarm",
    "AlarmDescription": "caf\N{LATIN SMALL LETTER E WITH ACUTE}",
    "Dimensions": [{"Name": DIMENSION, "Value": "Config-CD"}],
    "Threshold": 1.0,
    "ActionsEnabled": True,
    "AlarmActions": ["arn:aws:sns:us-east-1:123456789012:topic"],
    "OKActions": [],
    "InsufficientDataActions": [],
}


@dataclass
class Account:
    """An account that answers as it is told."""

    access: Access
    stack: ExitStack
    stubs: dict[str, Stubber] = field(default_factory=dict)

    def answers(self, service: Any, operation: str, answer: dict[str, Any], **request: Any) -> None:
        if service not in self.stubs:
            self.stubs[service] = self.stack.enter_context(Stubber(self.access.client(service)))
        self.stubs[service].add_response(operation, answer, request or None)

    def declared_stack(self) -> DeclaredStack:
        summaries = [
            {
                "LogicalResourceId": id,
                "PhysicalResourceId": physical,
                "ResourceType": TEMPLATE["Resources"][id]["Type"],
                "ResourceStatus": "CREATE_COMPLETE",
                "LastUpdatedTimestamp": "2026-11-23",
            }
            for id, physical in IDS.items()
        ]
        self.answers("cloudformation", "get_template", {"TemplateBody": json.dumps(TEMPLATE)})
        self.answers("cloudformation", "list_stack_resources", {"StackResourceSummaries": summaries})
        return declared_stack(self.access, STACK)

    def end_stack(self) -> None:
        for stub in self.stubs.values():
            stub.assert_no_pending_responses()


@pytest.fixture
def account() -> Iterator[Account]:
    session = boto3.Session("nobody", "nothing", region_name="us-east-1")
    with ExitStack() as stack:
        yield Account(Access(DEPLOYMENT, lambda: session, {}), stack)


def words(comparisons: Iterator[Comparison]) -> list[str]:
    return [str(difference) for comparison in comparisons for difference in comparison.differences]


def test_names_that_cloudformation_knows_in_lower_case_are_no_drift(account: Account) -> None:
    stack = account.declared_stack()
    answer = {"CreationTime": "2026-11-23"}
    model = {"ModelName": "Model-AB", "ModelArn": IDS["Model"], **answer}
    variant = {"VariantName": "AllTraffic", "ModelName": "Model-AB"}
    config = {
        "EndpointConfigName": "Config-CD",
        "EndpointConfigArn": IDS["Config"],
        "ProductionVariants": [variant],
        **answer,
    }
    account.answers("sagemaker", "describe_model", model)
    account.answers("sagemaker", "describe_endpoint_config", config)
    assert words(definitions(account.access, stack)) == []
    account.answers(
        "sagemaker",
        "describe_endpoint",
        {
            "EndpointName": "Search",
            "EndpointArn": IDS["Endpoint"],
            "EndpointConfigName": "Config-CD",
            "EndpointStatus": "InService",
            "LastModifiedTime": "2026-11-23",
            **answer,
        },
        EndpointName="Search",
    )
    assert words(endpoints(account.access, stack)) == []
    assert variants(stack) == ["endpoint/Search/variant/AllTraffic"]
    account.end_stack()


def test_an_alarm_is_reverted_without_a_change_of_what_is_as_declared(account: Account) -> None:
    stack = account.declared_stack()
    account.answers("cloudwatch", "describe_alarms", {"MetricAlarms": [ALARM]})
    assert words(alarms(account.access, stack)) == []
    account.answers("cloudwatch", "describe_alarms", {"MetricAlarms": [{**ALARM, "Threshold": 50.0}]})
    (result,) = alarms(account.access, stack)
    assert list(map(str, result.differences)) == ["threshold 1 → 50.0"]
    account.answers("cloudwatch", "put_metric_alarm", {}, **{**ALARM, "Threshold": 1})
    assert result.restore is not None
    result.restore()
    account.end_stack()


def test_an_alarm_of_another_topic_than_the_stacks_parameter_has_drifted(account: Account) -> None:
    stack = account.declared_stack()
    account.answers(
        "cloudwatch", "describe_alarms", {"MetricAlarms": [{**ALARM, "AlarmActions": ["arn:other"]}]}
    )
    (word,) = words(alarms(account.access, stack))
    assert "arn:aws:sns:us-east-1:123456789012:topic" in word


@pytest.mark.parametrize(
    ("live", "message", "call"),
    [
        (
            None,
            "deleted",
            ("create_log_group", {"logGroupName": "/logs", "tags": {"a": "b"}, "kmsKeyId": "key"}),
        ),
        (
            {"retentionInDays": 30},
            "key key → none",
            ("associate_kms_key", {"logGroupName": "/logs", "kmsKeyId": "key"}),
        ),
        ({"retentionInDays": 7, "kmsKeyId": "key"}, "days of retention 30 → 7", None),
    ],
    ids=["deleted", "without its key", "with its key"],
)
def test_a_log_group_has_its_key_again(
    account: Account, live: dict[str, Any] | None, message: str, call: tuple[str, dict[str, Any]] | None
) -> None:
    groups = [] if live is None else [{"logGroupName": "/logs", **live}]
    stack = account.declared_stack()
    account.answers("logs", "describe_log_groups", {"logGroups": groups})
    (result,) = log_groups(account.access, stack)
    assert list(map(str, result.differences)) == [message]
    if call is not None:
        account.answers("logs", call[0], {}, **call[1])
    account.answers("logs", "put_retention_policy", {}, logGroupName="/logs", retentionInDays=30)
    assert result.restore is not None
    result.restore()
    account.end_stack()


@pytest.mark.parametrize(
    ("live", "written_value"),
    [((10, 20), (10, 20)), ((10, 30), (2, 8)), ((1, 8), (2, 8))],
    ids=["set by the schedule", "widened during the schedule", "widened"],
)
def test_a_revert_of_scaling_writes_a_range_that_is_declared_as_a_whole(
    account: Account, live: tuple[int, int], written_value: tuple[int, int]
) -> None:
    night = {
        "ScheduledActionName": "day",
        "Schedule": "cron(0 8 ? * * *)",
        "ScalableTargetAction": {"MinCapacity": 10, "MaxCapacity": 20},
    }
    resource = DeclaredResource(
        logical_id="Target",
        type="AWS::ApplicationAutoScaling::ScalableTarget",
        physical_id="target",
        properties={**TARGET_ID, **capacity(2, 8), "ScheduledActions": [night]},
    )
    stack = DeclaredStack(name="search", resources=(resource,))
    service = "application-autoscaling"
    suspension = {"DynamicScalingInSuspended": True}
    result = {
        **TARGET_ID,
        **capacity(*live),
        "SuspendedState": suspension,
        "RoleARN": "arn",
        "CreationTime": 0,
    }
    account.answers(service, "describe_scalable_targets", {"ScalableTargets": [result]})
    account.answers(service, "describe_scaling_policies", {"ScalingPolicies": []})
    account.answers(service, "describe_scheduled_actions", {"ScheduledActions": []})
    (comparison,) = scaling(account.access, stack, [])
    account.answers(
        service,
        "register_scalable_target",
        {},
        **TARGET_ID,
        **capacity(*written_value),
        SuspendedState=ACTIVE_STATE,
    )
    account.answers(service, "put_scheduled_action", {}, **TARGET_ID, **night)
    assert comparison.restore is not None
    comparison.restore()
    account.end_stack()


def capacity(minimum: int, maximum: int) -> dict[str, int]:
    return {"MinCapacity": minimum, "MaxCapacity": maximum}
