"""The embedded AWS's EventBridge: what a rule publishes to a topic, and when it publishes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

import pytest

from fleet_emulator.server import EmbeddedAws
from tests.support.builds import Builds, commands
from tests.support.embedded_app.clients import client
from tests.support.running_aws import running_aws

TEXT = '"<status> <absent>of <first>"'
PATHS = {"status": "$.detail.build-status", "first": "$.detail.list[0].value", "absent": "$.detail.absent"}
ALLOW = {
    "Effect": "Allow",
    "Principal": {"Service": "events.amazonaws.com"},
    "Action": "sns:Publish",
}
OF_THE_RULE = {"ArnEquals": {"aws:SourceArn": "arn:aws:events:us-east-1:123456789012:rule/any"}}
PLAINTEXT = {"Bool": {"aws:SecureTransport": "false"}}
REFUSE = {"Effect": "Deny", "Principal": "*", "Action": "sns:*"}


class Events:
    """A rule for each topic, and a queue that hears what is published."""

    def __init__(self, aws: EmbeddedAws) -> None:
        self.builds, self._numbers = Builds(aws), count()
        self._events, self._sns, self._sqs = (client(aws, name) for name in ("events", "sns", "sqs"))

    def rule(self, *statements: Mapping[str, Any], template: str = TEXT, pattern: Any = None) -> str:
        """A rule and its topic, whose policy has these statements; the queue's URL."""
        name = f"rule-{next(self._numbers)}"
        topic = self._sns.create_topic(Name=name)["TopicArn"]
        if statements:
            policy = {
                "Version": "2012-10-17",
                "Statement": [{**statement, "Resource": topic} for statement in statements],
            }
            self._sns.set_topic_attributes(
                TopicArn=topic, AttributeName="Policy", AttributeValue=json.dumps(policy)
            )
        queue: str = self._sqs.create_queue(QueueName=name)["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"][
            "QueueArn"
        ]
        self._sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
        self._events.put_rule(Name=name, EventPattern=json.dumps(pattern or {"source": [name]}))
        target = {
            "Id": "topic",
            "Arn": topic,
            "InputTransformer": {"InputPathsMap": PATHS, "InputTemplate": template},
        }
        self._events.put_targets(Rule=name, Targets=[target])
        return queue

    def happen(self, queue: str, **detail: Any) -> None:
        """An event that the rule of the queue matches."""
        entry = {"Source": queue.rpartition("/")[2], "DetailType": "any", "Detail": json.dumps(detail)}
        self._events.put_events(Entries=[entry])

    def event_messages(self, queue: str) -> list[str]:
        """The published messages, each as the topic was given it."""
        messages = self._sqs.receive_message(QueueUrl=queue).get("Messages", [])
        return [json.loads(message["Body"])["Message"] for message in messages]


@pytest.fixture(scope="module")
def events() -> Iterator[Events]:
    with running_aws() as aws:
        yield Events(aws)


FAILED_BUILD = {"build-status": "FAILED", "list": [{"value": "sentences"}]}


def test_what_a_rule_matches_is_published_with_the_values_in_its_text(events: Events) -> None:
    queue = events.rule(ALLOW)
    events.happen(queue, **FAILED_BUILD)
    assert events.event_messages(queue) == ['"FAILED of sentences"']


def test_values_outside_of_quotation_marks_are_json(events: Events) -> None:
    queue = events.rule(ALLOW, template='{"status": <status>, "of": "<first>"}')
    events.happen(queue, **FAILED_BUILD)
    (message,) = events.event_messages(queue)
    assert json.loads(message) == {"status": "FAILED", "of": "sentences"}


@pytest.mark.parametrize(
    "statements",
    [
        pytest.param([{**ALLOW, "Condition": OF_THE_RULE}], id="allowed under a condition"),
        pytest.param([], id="the policy that every topic has at first"),
        pytest.param([{**ALLOW, "Principal": {"Service": "cloudwatch.amazonaws.com"}}], id="another service"),
        pytest.param([{**ALLOW, "Action": "sns:Subscribe"}], id="another action"),
        pytest.param([ALLOW, REFUSE], id="denied"),
    ],
)
def test_nothing_is_published_where_the_policy_does_not_allow_it_without_a_condition(
    events: Events, statements: list[dict[str, Any]]
) -> None:
    queue = events.rule(*statements)
    events.happen(queue, **FAILED_BUILD)
    assert events.event_messages(queue) == []


def test_a_denial_under_a_condition_stands_in_no_way(events: Events) -> None:
    queue = events.rule(ALLOW, {**REFUSE, "Condition": PLAINTEXT})
    events.happen(queue, **FAILED_BUILD)
    assert len(events.event_messages(queue)) == 1


def test_nothing_is_published_where_a_value_breaks_the_text(events: Events) -> None:
    queue = events.rule(ALLOW)
    events.happen(queue, **{**FAILED_BUILD, "build-status": 'a "quoted" word'})
    assert events.event_messages(queue) == []


def test_the_end_of_a_build_is_an_event(events: Events) -> None:
    pattern = {
        "source": ["aws.codebuild"],
        "detail-type": ["CodeBuild Build State Change"],
        "detail": {"build-status": ["FAILED"], "project-name": ["fails", "works"]},
    }
    queue = events.rule(ALLOW, template='"<status>"', pattern=pattern)
    for name, command in (("works", "true"), ("fails", "false"), ("other", "false")):
        project = events.builds.project(name, commands(command))
        events.builds.final_build(events.builds.start(project))
    assert events.event_messages(queue) == ['"FAILED"']


@pytest.mark.parametrize(
    "statement",
    [
        {
            "Effect": "Deny",
            "NotPrincipal": {"AWS": "arn:aws:iam::123456789012:root"},
            "Action": "sns:Publish",
        },
        {"Effect": "Deny", "Principal": {"Service": "events.amazonaws.com"}, "NotAction": "sns:Subscribe"},
    ],
)
def test_a_refusal_of_all_but_others_counts(events: Events, statement: Mapping[str, Any]) -> None:
    queue = events.rule(ALLOW, statement)
    events.happen(queue, **{"build-status": "FAILED"})
    assert events.event_messages(queue) == []
