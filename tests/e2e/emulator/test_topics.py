"""The embedded AWS hosts topics, their policies and subscriptions, and alarms of expressions that name them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks

if TYPE_CHECKING:
    from fleet_emulator.server import EmbeddedAws

STATEMENT = {"Effect": "Allow", "Principal": {"Service": "cloudwatch.amazonaws.com"}, "Action": "sns:Publish"}


@pytest.fixture
def sns(aws: EmbeddedAws) -> Any:
    return client(aws, "sns")


def topic(*subscribers: str, display_name: str = "first", policy: bool = True) -> dict[str, Any]:
    """A topic with its policy, a parameter that names it, and subscribers by email."""
    document = {"Statement": [{**STATEMENT, "Resource": {"Ref": "Topic"}}]}
    resources: dict[str, Any] = {
        "Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": display_name}},
        "Arn": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {"Type": "String", "Name": "/topic", "Value": {"Ref": "Topic"}},
        },
    }
    if policy:
        properties = {"Topics": [{"Ref": "Topic"}], "PolicyDocument": document}
        resources["Policy"] = {"Type": "AWS::SNS::TopicPolicy", "Properties": properties}
    for number, subscriber in enumerate(subscribers):
        properties = {"TopicArn": {"Ref": "Topic"}, "Protocol": "email", "Endpoint": subscriber}
        resources[f"Subscriber{number}"] = {"Type": "AWS::SNS::Subscription", "Properties": properties}
    return resources


def alarm(*metrics: dict[str, Any]) -> dict[str, Any]:
    reference = "{{resolve:ssm:/topic}}"
    return {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "AlarmDescription": "rings",
            "AlarmActions": [reference],
            "OKActions": [reference],
            "ComparisonOperator": "GreaterThanThreshold",
            "EvaluationPeriods": 5,
            "DatapointsToAlarm": 3,
            "Threshold": 0.01,
            "TreatMissingData": "notBreaching",
            "Metrics": list(metrics),
        },
    }


def subscribers(sns: Any, arn: str) -> list[str]:
    subscriptions = sns.list_subscriptions_by_topic(TopicArn=arn)["Subscriptions"]
    return [subscription["Endpoint"] for subscription in subscriptions]


def senders(sns: Any, arn: str) -> list[Any]:
    policy = json.loads(sns.get_topic_attributes(TopicArn=arn)["Attributes"]["Policy"])
    return [statement["Principal"] for statement in policy["Statement"]]


def test_a_topic_keeps_its_subscribers_and_its_arn_when_it_changes(stacks: Stacks, sns: Any) -> None:
    assert stacks.create("changed", topic("a@example.com", "b@example.com")) == "CREATE_COMPLETE"
    arn = stacks.physical_ids("changed")["Topic"]
    assert subscribers(sns, arn) == ["a@example.com", "b@example.com"]
    assert senders(sns, arn) == [{"Service": "cloudwatch.amazonaws.com"}]

    changed_topic = topic("a@example.com", "c@example.com", display_name="second")
    assert stacks.update("changed", changed_topic) == "UPDATE_COMPLETE"
    assert stacks.physical_ids("changed")["Topic"] == arn
    assert sns.get_topic_attributes(TopicArn=arn)["Attributes"]["DisplayName"] == "second"
    assert subscribers(sns, arn) == ["a@example.com", "c@example.com"]
    assert senders(sns, arn) == [{"Service": "cloudwatch.amazonaws.com"}]

    assert stacks.update("changed", topic(policy=False)) == "UPDATE_COMPLETE"
    assert subscribers(sns, arn) == []
    assert senders(sns, arn) == [{"AWS": "*"}]

    stacks.api.delete_stack(StackName="changed")
    assert arn not in {entry["TopicArn"] for entry in sns.list_topics()["Topics"]}


def test_alarms_of_metric_math_and_of_queries_name_the_topic_of_a_parameter(
    aws: EmbeddedAws, stacks: Stacks
) -> None:
    stacks.create("topics", topic())
    arn = stacks.physical_ids("topics")["Topic"]
    metric = {"Namespace": "AWS/SageMaker", "MetricName": "Invocations"}
    gated_alarm = alarm(
        {"Id": "gated", "Expression": "IF(calls >= 20, calls)", "ReturnData": True},
        {"Id": "calls", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}, "ReturnData": False},
    )
    query = 'SELECT MAX(nv_inference_pending_request_count) FROM "TritonFleet/sentences"'
    queried_alarm = alarm({"Id": "queried", "Expression": query, "Period": 60, "ReturnData": True})
    assert stacks.create("alarms", {"Gated": gated_alarm, "Queried": queried_alarm}) == "CREATE_COMPLETE"

    metric_alarms = client(aws, "cloudwatch").describe_alarms()["MetricAlarms"]
    actual_metric_alarms = {
        metric_alarm["Metrics"][0]["Expression"]: metric_alarm for metric_alarm in metric_alarms
    }
    assert set(actual_metric_alarms) == {"IF(calls >= 20, calls)", query}
    for entry in actual_metric_alarms.values():
        assert entry["AlarmActions"] == entry["OKActions"] == [arn]
        assert (entry["EvaluationPeriods"], entry["DatapointsToAlarm"]) == (5, 3)
    assert [metric["ReturnData"] for metric in actual_metric_alarms["IF(calls >= 20, calls)"]["Metrics"]] == [
        True,
        False,
    ]
    assert actual_metric_alarms[query]["Metrics"][0]["Period"] == 60
    assert all("Skipped" not in reason for _, _, reason in stacks.events("alarms"))
