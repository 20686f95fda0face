"""Where alarms go: Foundation's topics, who may publish and who is subscribed."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.support.fleet_folder import FleetFolder
from tests.synth.conftest import templates
from tests.synth.resources import notified_topics

NOTIFICATIONS = """\
notifications:
  warning: [team@example.com]
  critical:
    - oncall@example.com
    - arn:aws:sqs:us-east-1:111122223333:pages
    - arn:aws:lambda:us-east-1:111122223333:function:page
"""


@pytest.fixture
def foundation(folder: FleetFolder) -> Template:
    folder.environment(NOTIFICATIONS)
    return templates(folder)["triton-fleet-dev"]


def properties(template: Template, kind: str) -> list[dict[str, Any]]:
    return [resource["Properties"] for resource in template.find_resources(kind).values()]


def topics(template: Template) -> dict[str, str]:
    """The logical ids of topics by the parameters that name them."""
    parameters = properties(template, "AWS::SSM::Parameter")
    return {
        parameter["Name"]: parameter["Value"]["Ref"]
        for parameter in parameters
        if "alarm-topic" in parameter["Name"]
    }


def test_each_severity_has_a_topic_without_a_name_of_ours(foundation: Template) -> None:
    assert set(topics(foundation)) == {
        "/triton-fleet/dev/alarm-topic/warning",
        "/triton-fleet/dev/alarm-topic/critical",
    }
    assert set(topics(foundation).values()) == set(foundation.find_resources("AWS::SNS::Topic"))
    assert all("TopicName" not in entry for entry in properties(foundation, "AWS::SNS::Topic"))


def test_alarms_of_the_account_may_publish_and_nobody_without_tls(foundation: Template) -> None:
    policies = properties(foundation, "AWS::SNS::TopicPolicy")
    assert sorted(policy["Topics"][0]["Ref"] for policy in policies) == sorted(topics(foundation).values())
    for policy in policies:
        (topic,) = policy["Topics"]
        # What EventBridge may is in test_engine_build.py.
        assert [
            statement
            for statement in policy["PolicyDocument"]["Statement"]
            if "Engine" not in statement["Sid"]
        ] == [
            {
                "Sid": "PublishAlarms",
                "Effect": "Allow",
                "Principal": {"Service": "cloudwatch.amazonaws.com"},
                "Action": "sns:Publish",
                "Resource": topic,
                "Condition": {
                    "StringEquals": {"aws:SourceAccount": "111122223333"},
                    "ArnLike": {"aws:SourceArn": "arn:aws:cloudwatch:us-east-1:111122223333:alarm:*"},
                },
            },
            {
                "Sid": "RefuseWithoutTls",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "sns:Publish",
                "Resource": topic,
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ]


def test_whom_the_environment_names_is_subscribed(foundation: Template) -> None:
    by_topic = {id: name.rsplit("/", 1)[1] for name, id in topics(foundation).items()}
    rows = {
        (by_topic[entry["TopicArn"]["Ref"]], entry["Protocol"], entry["Endpoint"])
        for entry in properties(foundation, "AWS::SNS::Subscription")
    }
    assert rows == {
        ("warning", "email", "team@example.com"),
        ("critical", "email", "oncall@example.com"),
        ("critical", "sqs", "arn:aws:sqs:us-east-1:111122223333:pages"),
        ("critical", "lambda", "arn:aws:lambda:us-east-1:111122223333:function:page"),
    }


def test_an_environment_that_names_nobody_has_topics_all_the_same(folder: FleetFolder) -> None:
    template = templates(folder)["triton-fleet-dev"]
    template.resource_count_is("AWS::SNS::Topic", 2)
    template.resource_count_is("AWS::SNS::Subscription", 0)


OWNED_TOPICS = f"""{NOTIFICATIONS}  owners:
    search: {{critical: [search@example.com]}}
"""


class TestOwners:
    def test_an_owner_with_notifications_has_topics_of_its_own(self, folder: FleetFolder) -> None:
        folder.environment(OWNED_TOPICS)
        template = templates(folder)["triton-fleet-dev"]
        assert {
            "/triton-fleet/dev/alarm-topic/search/warning",
            "/triton-fleet/dev/alarm-topic/search/critical",
        } < set(topics(template))
        own = topics(template)["/triton-fleet/dev/alarm-topic/search/critical"]
        entries = [
            entry
            for entry in properties(template, "AWS::SNS::Subscription")
            if entry["TopicArn"]["Ref"] == own
        ]
        assert [entry["Endpoint"] for entry in entries] == ["search@example.com"]

    @pytest.mark.parametrize(
        ("owner", "topic"),
        [
            ("search", "alarm-topic/search/critical"),
            ("ranking", "alarm-topic/critical"),
            (None, "alarm-topic/critical"),
        ],
    )
    def test_alarms_notify_the_owner_that_the_environment_names_else_everybody(
        self, folder: FleetFolder, owner: str | None, topic: str
    ) -> None:
        folder.environment(OWNED_TOPICS)
        folder.spec("" if owner is None else f"owner: {{team: {owner}}}\n")
        template = templates(folder)["triton-fleet-dev-sentences"]
        alarms = properties(template, "AWS::CloudWatch::Alarm")
        critical = [
            alarm for alarm in alarms if notified_topics(template.to_json(), alarm)[0].endswith(topic)
        ]
        assert critical
        assert all(entry["AlarmActions"] == entry["OKActions"] for entry in critical)

    def test_a_subscriber_of_another_account_is_told_at_its_line(self, folder: FleetFolder) -> None:
        folder.environment(
            "notifications:\n  owners:\n    search:\n      critical: ['arn:aws:sqs:us-east-1:999999999999:x']\n"
        )
        assert folder.finding_lines()[0].startswith(
            "dev.yaml:7 FL112 `notifications.owners.search.critical[0]`"
        )


def test_an_owner_and_its_contact_become_tags_of_the_stack(folder: FleetFolder) -> None:
    folder.spec("owner: {team: search, contact: search@example.com}\n")
    model = properties(templates(folder)["triton-fleet-dev-sentences"], "AWS::SageMaker::Model")[0]
    tags = {tag["Key"]: tag["Value"] for tag in model["Tags"]}
    assert tags["triton-fleet:owner"] == "search"
    assert tags["triton-fleet:contact"] == "search@example.com"
