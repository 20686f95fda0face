"""AWS::SNS: topics (moto replaces them with every update), policies and subscriptions (moto hosts none)."""

from __future__ import annotations

import json
from typing import Any

from moto.sns.models import SNSBackend, sns_backends
from moto.sns.models import Topic as MotoTopic

from fleet_emulator.types.resource import Declaration, Resource, ResourceType

_ATTRIBUTES = {"DisplayName": "display_name", "KmsMasterKeyId": "kms_master_key_id"}
"""The attributes that change in place, by CloudFormation's names, and moto's."""
_NAMES = {"TopicName", "FifoTopic"}


def _backend(declaration: Declaration) -> SNSBackend:
    return sns_backends[declaration.account_id][declaration.region]


class Topic(ResourceType):
    """`Ref` is the topic's ARN."""

    replacing_properties = frozenset(_NAMES)

    def create(self, declaration: Declaration) -> Resource:
        """Create the topic under its own name or a generated one, with the subscriptions that it names."""
        name = declaration.properties.get(
            "TopicName", f"{declaration.stack_name}-{declaration.generated_name()}"
        )
        topic = _backend(declaration).create_topic(name, {})
        return self._put(topic, declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Replace the attributes; subscriptions stay."""
        return self._put(_backend(declaration).get_topic(resource.physical_resource_id), declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the topic with its subscriptions."""
        _backend(declaration).delete_topic(resource.physical_resource_id)

    @staticmethod
    def _put(topic: MotoTopic, declaration: Declaration) -> Resource:
        backend, properties = _backend(declaration), declaration.properties
        for key, attribute in _ATTRIBUTES.items():
            backend.set_topic_attribute(topic.arn, attribute, properties.get(key, ""))
        topic._tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
        for subscription in properties.get("Subscription", []):
            backend.subscribe(topic.arn, subscription["Endpoint"], subscription["Protocol"])
        return Resource(topic.arn, {"TopicArn": topic.arn, "TopicName": topic.name})


class TopicPolicy(ResourceType):
    """A topic's policy in place of the one that every topic has at first."""

    def create(self, declaration: Declaration) -> Resource:
        """Put it on its topics."""
        return self._put(declaration.generated_name(), declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Put it again, and take it from topics that it is no longer of."""
        _restore(before, other_topics=declaration.properties["Topics"])
        return self._put(resource.physical_resource_id, declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Give its topics the first policy back."""
        _restore(declaration, other_topics=())

    @staticmethod
    def _put(name: str, declaration: Declaration) -> Resource:
        policy = json.dumps(declaration.properties["PolicyDocument"])
        for arn in declaration.properties["Topics"]:
            _backend(declaration).set_topic_attribute(arn, "policy", policy)
        return Resource(name, {"Id": name})


class Subscription(ResourceType):
    """`Ref` is the subscription's ARN."""

    replacing_properties = frozenset({"TopicArn", "Endpoint", "Protocol"})

    def create(self, declaration: Declaration) -> Resource:
        """Subscribe."""
        properties = declaration.properties
        subscription = _backend(declaration).subscribe(
            properties["TopicArn"], properties["Endpoint"], properties["Protocol"]
        )
        return Resource(subscription.arn, {"Arn": subscription.arn})

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Change nothing: of the rest, nothing acts here."""
        return resource

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Unsubscribe."""
        _backend(declaration).unsubscribe(resource.physical_resource_id)


def _restore(declaration: Declaration, *, other_topics: Any) -> None:
    backend = _backend(declaration)
    for arn in declaration.properties["Topics"]:
        if arn in backend.topics and arn not in other_topics:
            topic = backend.get_topic(arn)
            first = topic._create_default_topic_policy(backend.region_name, backend.account_id, topic.name)
            backend.set_topic_attribute(arn, "policy", json.dumps(first))
