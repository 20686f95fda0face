"""Where an environment's alarms go: a topic for each severity and owner, and who is subscribed to it."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import CfnResource, Reference, Token, Tokenization
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from triton_endpoints.acknowledgements import acknowledge_plain_topic
from triton_endpoints.builds.project import SEVERITY
from triton_endpoints.policy import document
from triton_fleet.spec.alarms import SEVERITIES, AlarmSeverity
from triton_fleet.spec.contacts import protocol
from triton_fleet.spec.deployment import Deployment

_PROTOCOLS: Mapping[str, str] = {"AWS::Lambda::Function": "lambda", "AWS::SQS::Queue": "sqs"}


def subscription_protocol(subscriber: str) -> str:
    """How SNS reaches a subscriber; an ARN of the app's own is known by its resource, else it is empty."""
    if not Token.is_unresolved(subscriber):
        return protocol(subscriber)
    reference = Tokenization.reverse_string(subscriber).first_token
    target = reference.target if isinstance(reference, Reference) else None
    return _PROTOCOLS.get(target.cfn_resource_type, "") if isinstance(target, CfnResource) else ""


class AlarmTopics(Construct):
    """Topics that take nothing without TLS and let the account's alarms publish.

    CloudFormation names them; endpoint stacks find them by parameters of the parameter store, whose names
    follow from environment, severity and, for those of an owner, its team.
    """

    def __init__(
        self, scope: Construct, id: str, *, deployment: Deployment, owner: str | None = None
    ) -> None:
        super().__init__(scope, id)
        self._deployment, self._owner = deployment, owner
        self._subscribers = (
            deployment.notifications if owner is None else deployment.owner_notifications[owner]
        )
        self.arns = {severity: self._topic(severity) for severity in SEVERITIES}
        teams = deployment.owner_notifications if owner is None else ()
        self._of_owners = {
            team: AlarmTopics(self, f"Of {team}", deployment=deployment, owner=team) for team in teams
        }

    def arns_for(self, owner: str | None) -> Mapping[AlarmSeverity, str]:
        """The topics by severity; those of an owner where it has any."""
        return self.arns if owner is None else self._of_owners[owner].arns

    def _topic(self, severity: AlarmSeverity) -> str:
        name, deployment = severity.capitalize(), self._deployment
        whose = deployment.environment if self._owner is None else f"{deployment.environment}, {self._owner}"
        topic = sns.CfnTopic(self, name, display_name=f"Triton Fleet {whose}: {severity}")
        acknowledge_plain_topic(topic)
        sns.CfnTopicPolicy(
            self,
            f"{name}Policy",
            topics=[topic.ref],
            policy_document=document(self._statements(topic.ref, severity)),
        )
        ssm.CfnParameter(
            self,
            f"{name}Arn",
            type="String",
            name=deployment.alarm_topic(severity, self._owner),
            value=topic.ref,
            description=f"ARN of the topic for {severity} alarms",
        )
        for number, subscriber in enumerate(self._subscribers.get(severity, ())):
            sns.CfnSubscription(
                self,
                f"{name} {number if Token.is_unresolved(subscriber) else subscriber}",
                topic_arn=topic.ref,
                protocol=subscription_protocol(subscriber),
                endpoint=subscriber,
            )
        return topic.ref

    def _statements(self, topic: str, severity: AlarmSeverity) -> list[dict[str, object]]:
        """A policy of our own replaces the one that lets the account publish: alarms have to be allowed.

        Source: CloudWatch user guide, Notify_Users_Alarm_Changes.html.
        """
        deployment = self._deployment
        return [
            {
                "Sid": "PublishAlarms",
                "Effect": "Allow",
                "Principal": {"Service": "cloudwatch.amazonaws.com"},
                "Action": "sns:Publish",
                "Resource": topic,
                "Condition": {
                    "StringEquals": {"aws:SourceAccount": deployment.account},
                    "ArnLike": {"aws:SourceArn": deployment.arn("cloudwatch", "alarm:*")},
                },
            },
            *([self._failures(topic)] if severity == SEVERITY and self._owner is None else []),
            {
                "Sid": "RefuseWithoutTls",
                "Effect": "Deny",
                "Principal": "*",
                "Action": "sns:Publish",
                "Resource": topic,
                "Condition": {"Bool": {"aws:SecureTransport": "false"}},
            },
        ]

    @staticmethod
    def _failures(topic: str) -> dict[str, object]:
        """Without a condition: EventBridge supports none in topic policies, and publishes nothing under one.

        Source: EventBridge user guide, eb-use-resource-based.html.
        """
        return {
            "Sid": "PublishEngineFailures",
            "Effect": "Allow",
            "Principal": {"Service": "events.amazonaws.com"},
            "Action": "sns:Publish",
            "Resource": topic,
        }
